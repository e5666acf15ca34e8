/**
 * Maximum length in characters. Linux and Windows allow 255; the margin helps when the directory is copied elsewhere.
 */
const maxLength = 200

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`

/** Device names on Windows, also when a dot follows. */
const reservedName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/

/**
 * Returns the name of the directory for a key. Names are unique per key, even if the file system folds case or Unicode,
 * and never lead out of the parent directory: `a-z0-9_-` stay, `:` becomes `.`, every other byte becomes `%xx`.
 *
 * @throws TypeError when the key is too long or is not well-formed Unicode.
 * @example
 * slotNameOf('spent:code:9f86') // 'spent.code.9f86'
 */
export function slotNameOf(key: string): string {
  const bytes = Buffer.from(key)
  // A lone surrogate becomes U+FFFD, so two different keys would share a name.
  if (bytes.toString() !== key) {
    throw new TypeError(
      `The storage key ${JSON.stringify(key.slice(0, 60))} is not well-formed Unicode (it has a lone surrogate)`,
    )
  }
  // No other key results in a lone `%`.
  if (key === '') return '%'
  const name = bytes
    .toString('latin1')
    .replace(/[^a-z0-9_:-]/g, percent)
    .replaceAll(':', '.')
    // `.` and `..` are other directories, and Windows drops a trailing dot.
    .replace(/^\.|\.$/g, '%3a')
    .replace(reservedName, (reserved) => percent(reserved) + reserved.slice(1))
  if (name.length > maxLength) {
    throw new TypeError(
      `The storage key ${JSON.stringify(key.slice(0, 60))}... needs a file name of ${name.length} characters, and at most ${maxLength} are allowed; use a hash of it`,
    )
  }
  return name
}

/** Returns the key for a slot name. */
export function keyOf(slotName: string): string {
  if (slotName === '%') return ''
  const bytes = slotName
    .replaceAll('.', ':')
    .replace(/%([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}
