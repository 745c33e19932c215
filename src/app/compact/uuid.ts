/** A UUID made of a sha256 (hex): the same input gives the same id, so that a repeated run gives the same bytes. It has the form of a random one (version 4, RFC 9562), because producers check for that. */
export function uuidFromHash(hex: string): string {
  const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4] ?? '8';
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
