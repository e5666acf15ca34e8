import { inexactNumber, isKept, isSameUsername, type Json } from '@grantry/core'
import type { Entry } from 'ldapts'
import { isNumber } from '../number.ts'
import type { LdapUsersOptions } from './ldap-options.ts'

/** A claim, with its attribute and type. */
export interface ClaimAttribute {
  readonly claim: string
  readonly attribute: string
  readonly type: 'string' | 'number' | 'boolean' | 'array'
}

/** The claims with their attributes and types. */
export const claimsOf = ({ attributes }: LdapUsersOptions): readonly ClaimAttribute[] =>
  Object.entries(attributes.claims).map(([claim, value]) =>
    typeof value === 'string' ? { claim, attribute: value, type: 'string' } : { claim, ...value },
  )

/** Attributes of Active Directory whose values are bytes. */
export const isGuid = (attribute: string): boolean => attribute.toLowerCase() === 'objectguid'

/** Returns the values of an attribute. Names of attributes have no case. */
function valuesOf(entry: Entry, attribute: string): readonly (string | Buffer)[] {
  const name = Object.keys(entry).find((key) => key.toLowerCase() === attribute.toLowerCase() && entry[key]?.length)
  const value = name === undefined ? [] : entry[name]
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** The order of the bytes in the text of a GUID: the first three groups are little-endian. */
const guidOrder = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15] as const

function guidText(bytes: Uint8Array): string | undefined {
  if (bytes.length !== guidOrder.length) return undefined
  const hex = Buffer.from(guidOrder.map((index) => bytes[index] ?? 0)).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5')
}

/** Returns the bytes of a GUID for a filter; `undefined` if the text is none. */
export function guidBytes(text: string): Buffer | undefined {
  if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/u.test(text)) return undefined
  const bytes = Buffer.from(text.replaceAll('-', ''), 'hex')
  return Buffer.from(guidOrder.map((index) => bytes[index] ?? 0))
}

/** Returns the `sub` of an entry; `undefined` if it has none, or several. */
export function subOf(entry: Entry, attribute: string): string | undefined {
  const [value, second] = valuesOf(entry, attribute)
  if (value === undefined || second !== undefined) return undefined
  if (isGuid(attribute)) return guidText(typeof value === 'string' ? Buffer.from(value, 'latin1') : value)
  return String(value)
}

/** Returns the first value of the first of these attributes that an entry has. */
export function firstValueOf(entry: Entry, attributes: readonly string[]): string | undefined {
  const [value] = attributes.flatMap((attribute) => valuesOf(entry, attribute))
  return value === undefined ? undefined : String(value)
}

/**
 * Whether one of the attributes is a name; `undefined` if the entry shows none of them. A matching rule can ignore more than
 * this process, such as the hyphens of telephone numbers, and the accents of a domain.
 */
export function hasName(username: string, entry: Entry, attributes: readonly string[]): boolean | undefined {
  const values = attributes.flatMap((attribute) => valuesOf(entry, attribute))
  return values.length === 0 ? undefined : values.some((value) => isSameUsername(username, String(value)))
}

/** Returns the entries that a directory has found for a name, without those of another name. */
export const entriesOf = (
  username: string,
  entries: readonly Entry[],
  attributes: readonly string[],
): readonly Entry[] => entries.filter((entry) => hasName(username, entry, attributes) !== false)

/** Returns the value of a claim; `undefined` if the attribute is absent. @throws TypeError if it is of another type */
export function claimValue(entry: Entry, { claim, attribute, type }: ClaimAttribute): Json | undefined {
  const values = valuesOf(entry, attribute).map(String)
  if (type === 'array') return values.length === 0 ? undefined : values
  const [text] = values
  if (text === undefined) return undefined
  if (type === 'string') return text
  if (type === 'boolean' && /^(?:TRUE|FALSE)$/iu.test(text)) return text.toUpperCase() === 'TRUE'
  const place = `users.attributes.claims.${claim}: a value of the attribute ${attribute}`
  if (type === 'number' && isNumber(text)) {
    if (isKept(text)) return Number(text)
    throw new TypeError(`${place} ${inexactNumber}: give it the type string`)
  }
  throw new TypeError(`${place} is not of the type ${type}`)
}
