// Redis Cluster hashes only the text between braces, and a fence must be in the slot of its item, so item keys have no
// braces. A lone surrogate has no UTF-8 encoding, so all of them would become the same key.
const unsafe = /[%{}\uD800-\uDFFF]/gu

/** Finds what `unsafe` may replace, and runs in half its time, because it does not look for pairs of surrogates. */
const mayBeUnsafe = /[%{}\uD800-\uDFFF]/

const escaped = (text: string): string =>
  text.replace(unsafe, (character) => `%${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const unescaped = (text: string): string =>
  text.replace(/%([0-9a-f]{4})/gu, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Maps the keys of a driver to names in Redis. */
export interface ItemKeys {
  /** Returns the name of an item, unique per key and without braces. */
  of(key: string): string
  /** Returns the name of the fence key, in the slot of the item. Its braces distinguish it from items. */
  fenceOf(itemKey: string): string
  /** The set with the keys of entries. Its braces distinguish it from items. */
  readonly index: string
  /** Returns the MATCH pattern for SCAN. */
  pattern(base: string): string
  /** Returns the key for a name that SCAN returned; `undefined` for a fence and the index. */
  keyOf(itemKey: string): string | undefined
}

export function itemKeys(prefix: string): ItemKeys {
  const start = `${escaped(prefix)}:`
  return {
    of(key) {
      const itemKey = start + key
      return mayBeUnsafe.test(itemKey) ? start + escaped(key) : itemKey
    },
    fenceOf: (itemKey) => `${start}fence:{${itemKey}}`,
    index: `${start}index:{entries}`,
    pattern: (base) => `${(start + escaped(base)).replace(/[\\*?[\]]/gu, '\\$&')}*`,
    keyOf: (itemKey) => (itemKey.includes('{') ? undefined : unescaped(itemKey.slice(start.length))),
  }
}
