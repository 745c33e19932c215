/** The style sheet of a page. Colors that carry a meaning differ in lightness too, and go with a shape or a word. */
export const STYLE = `
:root{color-scheme:light dark;--bg:#fbfbfa;--card:#fff;--text:#1c1f23;--faint:#5b636d;--line:#dfe2e6;--link:#0a58b0;--kept:#0f6cbd;--quoted:#b35900;--summarized:#5f6b7a;--archived:#9aa4b0;--good:#0b6b3a;--bad:#b3261e;--plan:#5a3fa0;--track:#e6e8eb;--user:#cfe4f7;--assistant:#d3eadf;--tool:#f5e3c3;--system:#e3dcf2;--code:#f1f2f4}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1b1f23;--text:#e4e7ea;--faint:#9aa5b1;--line:#31373e;--link:#7cb7f5;--kept:#5aa9f0;--quoted:#f0a04b;--summarized:#8b97a5;--archived:#626d79;--good:#5fce91;--bad:#ff8b80;--plan:#b9a2f5;--track:#2c3238;--user:#1f3f5c;--assistant:#1d4434;--tool:#4d3b17;--system:#3a2f57;--code:#23282d}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;-webkit-text-size-adjust:100%}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0 auto;padding:0 1.25rem 3rem;max-width:68rem;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .25rem}
h2{font-size:1.2rem;margin:0 0 .6rem}
h3{font-size:1rem;margin:1.4rem 0 .4rem}
p{margin:.4rem 0}
a{color:var(--link);text-underline-offset:.15em}
a:focus-visible,button:focus-visible,summary:focus-visible,input:focus-visible,select:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
code,pre{font:.875em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
code{background:var(--code);padding:.1em .35em;border-radius:4px}
header{padding:2rem 0 .75rem}
.brand{margin:0;font-size:.8rem;font-weight:600;letter-spacing:.04em;color:var(--faint)}
.faint,.note,figcaption,.ticks{color:var(--faint)}
.note,figcaption{font-size:.9rem}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem;z-index:3}
nav{position:sticky;top:0;background:var(--bg);border-bottom:1px solid var(--line);z-index:2;margin:0 -1.25rem;padding:0 1.25rem}
nav ul{display:flex;gap:1.1rem;list-style:none;margin:0;padding:.5rem 0;overflow-x:auto;white-space:nowrap;font-size:.9rem}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
section{margin:1.5rem 0 2.5rem;scroll-margin-top:3rem}
section+section{border-top:1px solid var(--line);padding-top:1.5rem}
.verdict{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1.1rem 1.25rem;margin-bottom:1.5rem}
.verdict+section{border-top:0;padding-top:0}
.badge{font-size:1.15rem}
.good{color:var(--good)}.bad{color:var(--bad)}.plan{color:var(--plan)}
.problem{border-left:4px solid var(--bad);padding:.2rem 0 .2rem .9rem;margin:.6rem 0;list-style:none}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:1rem 1.6rem;margin:1rem 0}
.figures dt,.facts dt{font-size:.85rem;color:var(--faint)}
.figures dd,.facts dd{margin:0}
.figures b{font-size:1.25rem}.figures dd .faint{display:block;font-size:.9rem}
.facts{margin:.8rem 0 0;display:grid;gap:.15rem}
.facts dd{margin-bottom:.4rem}
.command button,.pager button{font:inherit;font-size:.875rem;padding:.2rem .7rem;border:1px solid var(--line);border-radius:6px;background:var(--card);color:var(--text);cursor:pointer}
.pager button:disabled{color:var(--faint);cursor:default}
figure{margin:.5rem 0}
figcaption{margin:.5rem 0}
svg{display:block}
svg text{font-size:12px;fill:var(--text)}
svg .faint{fill:var(--faint)}
svg .strong{font-weight:600}
.axis{stroke:var(--text);stroke-width:1;pointer-events:none}
.hit{fill:transparent}
.strip a:hover .hit,.strip a:focus .hit{fill:var(--track)}
.strip a:focus{outline:none}
.strip a:focus-visible .hit{stroke:var(--link);stroke-width:2}
rect.kept{fill:var(--kept)}
rect.quoted{fill:url(#hatch);stroke:var(--quoted);stroke-width:1}
pattern rect.quoted{fill:var(--quoted);stroke:none}
rect.summarized{fill:var(--summarized)}
rect.archived{fill:none;stroke:var(--archived);stroke-width:1}
.s1{fill-opacity:.35}.s2{fill-opacity:.55}.s3{fill-opacity:.78}.s4{fill-opacity:1}
.ticks{display:flex;justify-content:space-between;font-size:.8rem;margin-top:.2rem}
.key{display:inline-flex;align-items:center;gap:.4rem;margin-right:1.1rem;color:var(--text)}
.key::before{content:"";width:.8rem;height:.8rem;border:1px solid}
.k-kept::before{background:var(--kept);border-color:var(--kept)}
.k-quoted::before{background:repeating-linear-gradient(45deg,var(--quoted) 0 2px,transparent 2px 4px);border-color:var(--quoted)}
.k-summarized::before{background:var(--summarized);border-color:var(--summarized)}
.k-archived::before{border-color:var(--archived)}
.icicle rect{stroke:none}
.r-user{fill:var(--user)}.r-assistant{fill:var(--assistant)}.r-tool{fill:var(--tool)}.r-system{fill:var(--system)}
.d1{fill-opacity:.8}.d2{fill-opacity:.6}
.made{fill:var(--user);stroke:var(--kept)}
.carried{fill:none;stroke:var(--summarized);stroke-dasharray:4 3}
.link{fill:none;stroke:var(--summarized);stroke-width:1.5}
.bar{margin-top:.35rem}
.track{fill:var(--track)}.fill{fill:var(--kept)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;margin:.4rem 0;min-width:60%}
caption{text-align:left;color:var(--faint);font-size:.85rem;padding-bottom:.2rem}
th,td{text-align:left;padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}
th{font-weight:600;white-space:nowrap}
th.n,td.n{text-align:right}
td code.hash{display:inline-block;min-width:16rem;overflow-wrap:anywhere}.when{white-space:nowrap}
.fold{margin:.4rem 0}
summary{cursor:pointer}
.fold>summary{font-size:.9rem;color:var(--link)}
.count{font-weight:400;color:var(--faint);font-size:.9em}
.lines,.requests{list-style:none;margin:.3rem 0;padding:0}
.lines li,.summary p,.asked,.ended{display:grid;grid-template-columns:1fr auto;gap:.2rem 1rem;align-items:start}
.lines li{padding:.3rem 0;border-bottom:1px solid var(--line)}.lines span,.asked span,.ended span,.summary span,.m p span{white-space:pre-wrap}
.requests li{padding:.55rem 0;border-bottom:1px solid var(--line)}
.asked,.ended{margin:0}
.ended{color:var(--faint);padding-left:1.2rem;margin-top:.15rem}
.ended span{position:relative}
.ended span::before{content:"→";position:absolute;left:-1.2rem}
a.to{min-width:2.6rem;text-align:right;font-size:.85rem;text-decoration:none;font-weight:400;padding:.1rem .2rem;white-space:nowrap}
a.to::before{content:"#"}
a.to:hover{text-decoration:underline}
.summary{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.4rem 1.1rem 1rem;margin:.6rem 0}
.summary p{margin:0;padding:.12rem 0;font-size:.95rem}
.summary .head{font-weight:600;padding-top:.6rem}
.summary .label{color:var(--faint);font-size:.85rem;margin-top:.5rem}
.summary h3{margin-top:1rem}
.filters{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;align-items:end;margin:.6rem 0}
.filters label{font-size:.85rem;color:var(--faint);display:grid;gap:.15rem}
.filters .check{display:flex;align-items:center;gap:.4rem;padding-bottom:.4rem}
.filters input:not([type=checkbox]),.filters select{font:inherit;font-size:.95rem;padding:.3rem .5rem;border:1px solid var(--faint);border-radius:6px;background:var(--card);color:var(--text);max-width:100%}
.m{border-bottom:1px solid var(--line);scroll-margin-top:3.2rem;content-visibility:auto;contain-intrinsic-size:auto 3rem;padding:.35rem 0}
.m p{margin:.1rem 0}
.m>summary{display:grid;grid-template-columns:3.6rem 6rem 1fr auto;gap:.1rem .8rem;list-style:none;align-items:baseline}
.m>summary::-webkit-details-marker{display:none}
.m .no{color:var(--faint);text-align:right}
.m .what{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;min-width:0}
.m .fig{color:var(--faint);font-size:.85rem;white-space:nowrap}
.m .role{font-size:.9rem;font-weight:600}
.m[open]>summary .what{visibility:hidden}
.m pre{white-space:pre-wrap;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.8rem;margin:.4rem 0;max-height:34rem;overflow:auto}
.m .about{font-size:.85rem;color:var(--faint);margin:.3rem 0 0}
.m.here{background:var(--code)}
.pager{display:flex;gap:1rem;align-items:center;margin:.8rem 0}
footer{border-top:1px solid var(--line);color:var(--faint);font-size:.9rem;padding-top:.6rem}
@media (max-width:640px){body{padding:0 .9rem 2rem}nav{margin:0 -.9rem;padding:0 .9rem}h1{font-size:1.35rem}.verdict{padding:.9rem}.m>summary{grid-template-columns:2.6rem auto 1fr}.m .fig{grid-area:1/3}.m .what{grid-column:1/-1;white-space:normal;display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical}.m .no{text-align:left}.m .fig{text-align:right}.m[open]>summary .what{display:none}.summary{padding:.3rem .8rem .8rem}svg text{font-size:11px}}
@media print{nav,.filters,.pager,.skip,.command button{display:none}body{max-width:none;background:#fff;color:#000}section{break-inside:auto}figure,.verdict{break-inside:avoid}::details-content{content-visibility:visible;display:block}.m{content-visibility:visible}.scroll{overflow:visible}}
`;
