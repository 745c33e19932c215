// In place of sqlite-vec, which looks for its library among packages.
import { nameOf, unpack } from './native.js';

export const getLoadablePath = () => unpack(nameOf('vec0'));
