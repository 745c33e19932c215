// What the one file starts: the command line, a client's hook, or a worker for single files.

/** The program starts workers as Node does: flags of V8, and then the path of a script. There is none, so its name says what to do. */
const isWorker = (args) => process.send !== undefined && /[\\/]dist[\\/]cli[\\/]worker\.js$/.test(args.at(-1));

export async function start(args) {
  if (isWorker(args)) {
    process.getBuiltinModule('node:v8').setFlagsFromString(args.slice(0, -1).join(' '));
    const { serve } = await import('../../src/cli/pool/worker.ts');
    serve();
  } else if (args.length === 3 && args[0] === 'hook' && !args[1].startsWith('-') && !args[2].startsWith('-')) {
    const { main } = await import('../../src/cli/hook.ts');
    main(args[1], args[2]);
  } else {
    const { main } = await import('../../src/cli/main.ts');
    await main();
  }
}
