// pi loads this where it installed the package itself.
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPlugin } from './pi.js';

// pi may run in another runtime than Node.
const command = /^node(\.exe)?$/.test(basename(process.execPath)) ? process.execPath : 'node';

// oxlint-disable-next-line import/no-default-export -- pi asks for it
export default createPlugin({ command, args: [fileURLToPath(new URL('../compact.js', import.meta.url))] });
