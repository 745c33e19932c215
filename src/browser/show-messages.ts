/**
 * The script of a report page: it lists the messages, and moves along the strip. The page contains the source of this function, so it must not
 * use anything outside of it. Texts of a transcript reach the page only through `textContent`.
 */
export function showMessages(): void {
  type Index = Record<'id' | 'role' | 'tools' | 'at' | 'why' | 'batch', readonly string[]> &
    Record<'line' | 'tokens' | 'chars' | 'outcome' | 'cycle' | 'isRequest', readonly number[]> &
    Record<'score', readonly (number | null)[]>;
  const PAGE = 50;
  const OUTCOMES = ['kept', 'quoted', 'summarized', 'not summarized'];
  const element = <T extends HTMLElement>(id: string, kind: new () => T): T => {
    const found = document.getElementById(id);
    if (!(found instanceof kind)) throw new Error(`no ${id}`);
    return found;
  };
  const make = (tag: string, className: string, text: string): HTMLElement => {
    const made = document.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  };
  const unpack = async (data: string): Promise<unknown> => {
    const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
    return JSON.parse(await new Response(stream).text());
  };
  const format = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
  const blocks = [...document.querySelectorAll<HTMLElement>('.block')];
  const firsts = blocks.map((block) => Number(block.dataset['first']));
  const unpacked = new Map<number, Promise<readonly string[]>>();
  const blockOf = (at: number): Promise<readonly string[]> => {
    const known = unpacked.get(at) ?? (unpack(blocks[at]?.textContent ?? '') as Promise<readonly string[]>);
    unpacked.set(at, known);
    return known;
  };
  const textOf = async (number: number): Promise<string> => {
    const at = firsts.findLastIndex((first) => first <= number);
    return (await blockOf(at))[number - (firsts[at] ?? 1)] ?? '';
  };

  const start = async (): Promise<void> => {
    const index = (await unpack(element('index', HTMLScriptElement).textContent)) as Index;
    const list = element('list', HTMLElement);
    const find = element('find', HTMLInputElement);
    const outcome = element('outcome', HTMLSelectElement);
    const role = element('role', HTMLSelectElement);
    const asked = element('asked', HTMLInputElement);
    const previous = element('previous', HTMLButtonElement);
    const next = element('next', HTMLButtonElement);
    let shown = index.id.map((_, at) => at + 1);
    let from = 0;
    let turn = 0;

    const describe = (at: number): string =>
      [
        `line ${index.line[at]}`,
        index.at[at],
        index.id[at],
        index.batch[at] === '' ? '' : `summarized in ${index.batch[at]}`,
        index.cycle[at] === 0 ? '' : `left in compaction ${index.cycle[at]}`,
        index.score[at] === null ? '' : `importance ${index.score[at]} (${index.why[at]})`,
      ]
        .filter((part) => part !== '')
        .join(' · ');

    const row = (number: number, text: string): HTMLElement => {
      const at = number - 1;
      const details = document.createElement('details');
      details.className = 'm';
      details.id = `m${number}`;
      const head = document.createElement('summary');
      const opening = text.slice(0, 200).replace(/\s+/g, ' ').trim();
      const tools = index.tools[at] ?? '';
      const isNamed = tools === '' || opening.startsWith(tools);
      const what = isNamed ? opening : `${tools}: ${opening}`;
      head.append(
        make('span', 'no', format(number)),
        make('span', 'role', index.role[at] ?? ''),
        make('span', what === '' ? 'what faint' : 'what', what === '' ? 'no text' : what),
        make('span', 'fig', `${OUTCOMES[index.outcome[at] ?? 0]} · ${format(index.tokens[at] ?? 0)}`),
      );
      details.append(head);
      details.addEventListener('toggle', () => {
        if (!details.open || details.childElementCount > 1) return;
        const missing = (index.chars[at] ?? 0) - text.length;
        details.append(make('p', 'about', describe(at)), make('pre', '', text));
        if (missing > 0)
          details.append(make('p', 'about', `… ${format(missing)} more characters are not in this page`));
        details.querySelector('pre')?.setAttribute('tabindex', '0');
      });
      return details;
    };

    const draw = async (): Promise<void> => {
      turn += 1;
      const mine = turn;
      const numbers = shown.slice(from, from + PAGE);
      const texts = await Promise.all(numbers.map(textOf));
      if (mine !== turn) return;
      list.replaceChildren(...numbers.map((number, at) => row(number, texts[at] ?? '')));
      element('found', HTMLElement).textContent =
        shown.length === index.id.length ? '' : `${format(shown.length)} of ${format(index.id.length)} messages`;
      element('page', HTMLElement).textContent =
        numbers.length === 0
          ? 'no messages'
          : `${format(from + 1)}–${format(from + numbers.length)} of ${format(shown.length)}`;
      previous.disabled = from === 0;
      next.disabled = from + PAGE >= shown.length;
    };

    const filter = async (): Promise<void> => {
      const words = find.value.trim().toLowerCase();
      const matches: number[] = [];
      for (let at = 0; at < index.id.length; at += 1) {
        if (outcome.value !== '' && index.outcome[at] !== Number(outcome.value)) continue;
        if (role.value !== '' && index.role[at] !== role.value) continue;
        if (asked.checked && index.isRequest[at] === 0) continue;
        if (words !== '' && !`${index.tools[at]} ${await textOf(at + 1)}`.toLowerCase().includes(words)) continue;
        matches.push(at + 1);
      }
      shown = matches;
      from = 0;
      await draw();
    };

    /** Shows the message that the address names. */
    const follow = async (): Promise<void> => {
      const number = Number(/^#m(\d+)$/.exec(location.hash)?.[1] ?? Number.NaN);
      if (!(number >= 1 && number <= index.id.length)) return;
      if (!shown.includes(number)) {
        find.value = outcome.value = role.value = '';
        asked.checked = false;
        shown = index.id.map((_, at) => at + 1);
      }
      from = Math.floor(shown.indexOf(number) / PAGE) * PAGE;
      await draw();
      const target = document.getElementById(`m${number}`);
      if (!(target instanceof HTMLDetailsElement)) return;
      target.open = true;
      target.classList.add('here');
      target.scrollIntoView({ block: 'start' });
      target.querySelector('summary')?.focus({ preventScroll: true });
    };

    const turnPage = (step: number): void => {
      from += step;
      void draw();
      element('messages', HTMLElement).scrollIntoView();
    };
    previous.addEventListener('click', () => turnPage(-PAGE));
    next.addEventListener('click', () => turnPage(PAGE));
    for (const control of [outcome, role, asked]) control.addEventListener('change', () => void filter());
    find.addEventListener('change', () => void filter());
    find.form?.addEventListener('submit', (event) => {
      event.preventDefault();
      void filter();
    });
    window.addEventListener('hashchange', () => void follow());
    // A second click on the same link does not change the address.
    document.addEventListener('click', (event) => {
      const link = event.target instanceof Element ? event.target.closest('a[href^="#m"]') : null;
      if (link?.getAttribute('href') === location.hash) void follow();
    });
    element('browser', HTMLElement).hidden = false;
    await draw();
    await follow();
  };

  const cells = [...document.querySelectorAll<SVGAElement>('.strip a')];
  for (const [at, cell] of cells.entries()) {
    cell.addEventListener('keydown', (event) => {
      const steps: Readonly<Record<string, number>> = {
        ArrowRight: at + 1,
        ArrowLeft: at - 1,
        Home: 0,
        End: cells.length - 1,
      };
      const target = cells[steps[event.key] ?? -1];
      if (target === undefined) return;
      event.preventDefault();
      cell.setAttribute('tabindex', '-1');
      target.setAttribute('tabindex', '0');
      target.focus();
    });
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    if (!('clipboard' in navigator)) continue;
    button.hidden = false;
    button.addEventListener('click', () => {
      const text = document.getElementById(button.dataset['copy'] ?? '')?.textContent ?? '';
      void navigator.clipboard.writeText(text).then(() => (button.textContent = 'Copied'));
    });
  }
  void start();
}
