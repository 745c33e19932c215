/** Numbers and strings of reports. The tags are what JSON Schema says of them. */

/**
 * @asType integer
 * @minimum 0
 */
export type Count = number;

/**
 * @asType integer
 * @minimum 1
 */
export type Ordinal = number;

/**
 * @format date-time
 * @pattern ^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$
 */
export type IsoTime = string;

/** @pattern ^[0-9a-f]{64}$ */
export type Sha256 = string;
