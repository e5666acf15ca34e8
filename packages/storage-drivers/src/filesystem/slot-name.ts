/** Characters. Linux and Windows take 255; the rest is for those who copy the directory to something narrower. */
const longest = 200

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** On Windows these are devices, alone and before a dot. */
const device = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/

/**
 * The name of the directory that holds the item of a key. Two keys never share one, also where the file system folds case or Unicode, and
 * none leaves its parent: `a-z0-9_-` stay, `:` becomes `.`, every other byte `%xx`.
 *
 * @throws TypeError for a key that is too long, or that is no well-formed text.
 * @example
 * slotNameOf('spent:code:9f86') // 'spent.code.9f86'
 */
export function slotNameOf(key: string): string {
  const bytes = Buffer.from(key)
  // A lone surrogate becomes U+FFFD: two keys that differ there would be one.
  if (bytes.toString() !== key) {
    throw new TypeError(`The storage key ${JSON.stringify(key.slice(0, 60))} is not well-formed text; use other keys`)
  }
  // Nothing else gives a lone `%`.
  if (key === '') return '%'
  const name = bytes
    .toString('latin1')
    .replace(/[^a-z0-9_:-]/g, percent)
    .replaceAll(':', '.')
    // `.` and `..` lead elsewhere, and Windows drops a dot at the end.
    .replace(/^\.|\.$/g, '%3a')
    .replace(device, (reserved) => percent(reserved) + reserved.slice(1))
  if (name.length > longest) {
    throw new TypeError(
      `The storage key ${JSON.stringify(key.slice(0, 60))}... needs ${name.length} characters in a file name, at most ${longest} are allowed; use a hash of it`,
    )
  }
  return name
}

/** The key whose name this is. */
export function keyOf(slotName: string): string {
  if (slotName === '%') return ''
  const bytes = slotName
    .replaceAll('.', ':')
    .replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
