import { createHash } from 'node:crypto'
import { filter } from './common-passwords/filter.ts'

let bytes: Buffer | undefined

/** Whether a text is among the passwords of the list. Once in 10,000 texts, it is not, and this returns `true`. */
function isListed(text: string): boolean {
  bytes ??= Buffer.from(filter.base64, 'base64')
  const digest = createHash('sha256').update(text).digest()
  const [first, step] = [digest.readUInt32BE(0), digest.readUInt32BE(4)]
  for (let index = 0; index < filter.hashes; index += 1) {
    const bit = (first + index * step) % filter.size
    if (((bytes[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
  }
  return true
}

/**
 * Whether a password is among 17,900 that attackers try first, in any case, also with digits and signs behind it, or twice.
 *
 * @see NIST SP 800-63B-4 section 3.1.1.2
 */
export function isCommonPassword(password: string): boolean {
  const folded = password.normalize('NFKC').toLowerCase()
  const word = folded.replace(/[\p{N}\p{P}\p{S}\s]+$/u, '')
  const half = folded.slice(0, folded.length / 2)
  return [folded, word, ...(half + half === folded ? [half] : [])].some(isListed)
}
