import type { Members } from '../differences.ts'
import { objectsIn } from './imported.ts'
import type { Reader } from './reader.ts'

/** Bytes of hashes, by the length of their base64. */
const algorithms: Readonly<Record<number, 'sha256' | 'sha512'>> = { 44: 'sha256', 88: 'sha512' }

const lowerNames = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name.toLowerCase(), value]))

/** Epoch seconds, or the text of a date. */
const endOf = (expiration: unknown): Members =>
  typeof expiration === 'string' && !Number.isNaN(Date.parse(expiration))
    ? { expiresAt: new Date(Date.parse(expiration)).toISOString() }
    : {}

/** Returns the secrets of a list that are hashes: base64 of the SHA-256 or SHA-512. Reports the others. */
export function hashesIn(list: unknown, member: string, { note }: Reader): readonly Members[] {
  return objectsIn(list)
    .map(lowerNames)
    .flatMap(({ type = 'SharedSecret', value, expiration }, index) => {
      const where = `${member}[${index}]`
      if (type !== 'SharedSecret') {
        if (type !== 'JWK') note(where, `a secret of the type ${String(type)} has no counterpart`)
        return []
      }
      const isBase64 = typeof value === 'string' && /^[A-Za-z0-9+/]+={0,2}$/u.test(value)
      const algorithm = isBase64 ? algorithms[value.length] : undefined
      if (algorithm !== undefined) return [{ [algorithm]: value, ...endOf(expiration) }]
      note(where, 'was left out: it is not the base64 of a SHA-256 or SHA-512')
      return []
    })
}

/** Returns the public keys in a list of secrets. */
export function keysIn(list: unknown, member: string, { note }: Reader): readonly unknown[] {
  return objectsIn(list)
    .map(lowerNames)
    .flatMap(({ type, value }, index) => {
      if (type !== 'JWK') return []
      try {
        return [JSON.parse(String(value)) as unknown]
      } catch {
        note(`${member}[${index}]`, 'was left out: it is not JSON')
        return []
      }
    })
}
