import type { EndpointRequest, Kit, Reply } from '@grantry/core'
import type { Members } from '../differences.ts'
import type { EntryType } from '../entry-type.ts'
import { type Managed, shownEntry } from '../managed-entry.ts'

/** Returns the strong validator of a version (RFC 9110 section 8.8.3). */
const etagOf = (version: string): string => `"${version}"`

const validator = /^\s*(W\/)?"([!#-~]*)"\s*(?:,|$)/u

/** Returns the strong validators of a list; `undefined` if it is malformed. */
function validatorsIn(list: string): readonly string[] | undefined {
  const tags: string[] = []
  let rest = list
  while (rest !== '') {
    const [all, weak, tag] = validator.exec(rest) ?? []
    if (all === undefined || tag === undefined) return undefined
    if (weak === undefined) tags.push(tag)
    rest = rest.slice(all.length)
  }
  return tags
}

/**
 * Returns the version that a request names in `If-Match`; `undefined` for `*`, and without the header if it is optional.
 *
 * @param current reads the present version, if the request names several
 * @throws OAuthError 428 without the header, 400 when it is malformed, 412 when it has no strong validator
 * @see RFC 9110 section 13.1.1, RFC 6585 section 3
 */
export async function versionOf(
  request: Pick<EndpointRequest, 'header'>,
  kit: Pick<Kit, 'refuse'>,
  { required, current }: { readonly required: boolean; readonly current: () => Promise<string> },
): Promise<string | undefined> {
  const header = request.header('if-match')
  if (header === null) {
    if (!required) return undefined
    const message = 'The header If-Match is missing; send the ETag of the resource, as GET returns it'
    throw kit.refuse('invalid_request', message, 'version_missing', { status: 428 })
  }
  if (header.trim() === '*') return undefined
  const named = validatorsIn(header)
  if (named === undefined) throw kit.refuse('invalid_request', 'The header If-Match is malformed', 'version_malformed')
  const [first, ...others] = named
  if (first === undefined) {
    throw kit.refuse('invalid_request', 'A weak ETag in If-Match never matches', 'version_weak', { status: 412 })
  }
  if (others.length === 0) return first
  const present = await current()
  return named.includes(present) ? present : first
}

/** Returns the member `warnings` of the response to a change: why the entry can do nothing. */
export function warningsOf<T extends object>({ gaps }: EntryType<T>, { value }: Managed<T>): Members {
  const warnings = gaps?.(value) ?? []
  return warnings.length === 0 ? {} : { warnings }
}

/** Returns the response with an entry, and its version. */
export function entryReply<T extends object>(type: EntryType<T>, managed: Managed<T>, once: Members = {}): Reply {
  const json = { ...shownEntry(type, managed), ...once } as Reply['json']
  return { json, headers: { etag: etagOf(managed.version) } }
}
