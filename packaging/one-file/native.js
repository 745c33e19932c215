// The system loads native code only from files. So the parts that are native are unpacked once, into a folder that only the user can
// write to, and compared with what this program contains each time before they are loaded.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { getRawAsset } from 'node:sea';

/** The names of the parts, and a hash of all: the build knows them. */
const { names, hash } = NATIVE_PARTS;

/** The name of a part with its ending, which differs between systems. */
export const nameOf = (stem) => names.find((name) => name.startsWith(stem));

/** The path of a native part, which has the bytes that this program contains. */
export function unpack(name) {
  const folder = findFolder();
  const path = join(folder, name);
  if (!isPrivate(folder)) fail(`${folder} is not a folder that only you can write to`, folder);
  if (!readFileSync(path).equals(partOf(name))) fail(`${path} is not as this program unpacked it`, folder);
  return path;
}

function fail(what, folder) {
  throw new Error(`${what}, so it is not loaded. Remove ${folder}, and it is unpacked again.`);
}

const partOf = (name) => Buffer.from(getRawAsset(name));

function findFolder() {
  const problems = [];
  for (const base of places()) {
    const folder = join(base, `native-${hash}`);
    if (existsSync(folder)) return folder;
    try {
      mkdirSync(base, { recursive: true, mode: 0o700 });
      if (!isPrivate(base)) throw new Error(`${base}: others can write to it`);
      unpackInto(folder);
      return folder;
    } catch (error) {
      problems.push(error.message);
    }
  }
  throw new Error(`native code cannot be unpacked (${problems.join('; ')}). Set XDG_CACHE_HOME to a folder of yours.`);
}

/** The cache of the user; without one, a folder for the user where temporary files are. */
function places() {
  const { XDG_CACHE_HOME: given = '', HOME: home = process.platform === 'win32' ? homedir() : '' } = process.env;
  const temporary = join(tmpdir(), `compact-${process.geteuid?.() ?? 'native'}`);
  if (isAbsolute(given)) return [join(given, 'compact'), temporary];
  return isAbsolute(home) ? [join(home, '.cache', 'compact'), temporary] : [temporary];
}

/** Complete or not there: a process that is killed meanwhile leaves a folder that nobody loads from. */
function unpackInto(folder) {
  removeLeftovers(dirname(folder));
  const unfinished = mkdtempSync(`${folder}.`);
  for (const name of names)
    writeFileSync(join(unfinished, name), partOf(name), { flag: 'wx', mode: 0o600, flush: true });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  }
}

const HOUR_MS = 3_600_000;

/** What killed processes have left. */
function removeLeftovers(base) {
  for (const name of readdirSync(base).filter((one) => /^native-[0-9a-f]+\./.test(one))) {
    const path = join(base, name);
    if (Date.now() - lstatSync(path).mtimeMs > HOUR_MS) rmSync(path, { recursive: true, force: true });
  }
}

/** Windows has neither owners nor modes like these; the folders of users are private there. */
function isPrivate(folder) {
  const stats = lstatSync(folder);
  if (!stats.isDirectory()) return false;
  return process.geteuid === undefined || (stats.uid === process.geteuid() && (stats.mode & 0o077) === 0);
}
