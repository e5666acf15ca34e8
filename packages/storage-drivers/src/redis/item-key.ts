// Redis Cluster takes what stands between braces for the part of a key that decides where it lies; a fence must lie where its item does. A
// lone surrogate has no UTF-8, and any two of them would be one key.
const unsafe = /[%{}\uD800-\uDFFF]/gu

const escaped = (text: string): string =>
  text.replace(unsafe, (found) => `%${found.charCodeAt(0).toString(16).padStart(4, '0')}`)

const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{4})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** How the items of a driver are called in Redis. */
export interface ItemKeys {
  /** No two keys are one item, and none has braces. */
  of(key: string): string
  /** A key of its own in the slot of the item. Its braces tell it from items. */
  fenceOf(itemKey: string): string
  /** What SCAN is asked for. */
  pattern(base: string): string
  /** The key of what SCAN found; `undefined` for a fence. */
  keyOf(itemKey: string): string | undefined
}

export function itemKeys(prefix: string): ItemKeys {
  const start = `${escaped(prefix)}:`
  return {
    of: (key) => start + escaped(key),
    fenceOf: (itemKey) => `${start}fence:{${itemKey}}`,
    pattern: (base) => `${(start + escaped(base)).replace(/[\\*?[\]]/gu, '\\$&')}*`,
    keyOf: (itemKey) => (itemKey.includes('{') ? undefined : unescaped(itemKey.slice(start.length))),
  }
}
