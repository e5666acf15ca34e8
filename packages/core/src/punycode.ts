// Decodes the labels of internationalized domain names. A runtime has only the other direction, in `URL`.

const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700
const firstBias = 72
const firstCode = 128

/** Labels have 63 characters at most. */
const maxLabel = 63

function adapted(delta: number, count: number, isFirst: boolean): number {
  let rest = isFirst ? Math.floor(delta / damp) : delta >> 1
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > ((base - tMin) * tMax) >> 1; k += base) rest = Math.floor(rest / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + skew))
}

const digitOf = (code: number): number =>
  code >= 0x61 && code <= 0x7a ? code - 0x61 : code >= 0x30 && code <= 0x39 ? code - 0x30 + 26 : base

/** Decodes a text; `undefined` if it is malformed. @see RFC 3492 section 6.2 */
function decoded(text: string): string | undefined {
  const delimiter = text.lastIndexOf('-')
  const output = [...text.slice(0, Math.max(0, delimiter))].map((character) => character.charCodeAt(0))
  let code = firstCode
  let bias = firstBias
  let index = 0
  for (let at = delimiter + 1; at < text.length; ) {
    const before = index
    for (let weight = 1, k = base; ; k += base) {
      const digit = digitOf(text.charCodeAt(at++))
      if (digit >= base) return undefined
      index += digit * weight
      const threshold = Math.min(tMax, Math.max(tMin, k - bias))
      if (digit < threshold) break
      weight *= base - threshold
    }
    const count = output.length + 1
    bias = adapted(index - before, count, before === 0)
    code += Math.floor(index / count)
    if (code > 0x10ffff) return undefined
    index %= count
    output.splice(index++, 0, code)
  }
  return String.fromCodePoint(...output)
}

const ascii = /^xn--([a-z0-9-]+)$/u

/** Returns a domain in lower case with its labels as users write them. A malformed label stays as it is. */
export const unicodeDomain = (domain: string): string =>
  domain
    .split('.')
    .map((label) => {
      const [, text] = ascii.exec(label.slice(0, maxLabel + 1)) ?? []
      return text === undefined || label.length > maxLabel ? label : (decoded(text) ?? label)
    })
    .join('.')
