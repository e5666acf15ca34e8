import type { EndpointKit, Reply } from '@grantry/core'
import * as v from 'valibot'

const defaultLimit = '100'

/** The parameters of every list. */
export const pageQuery = {
  /** The position after which the page starts: `next` of the page before. */
  after: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
  limit: v.optional(
    v.pipe(v.string(), v.regex(/^(?:[1-9]\d{0,2}|1000)$/u, 'must be 1 to 1000'), v.transform(Number)),
    defaultLimit,
  ),
} as const

/**
 * Returns a page of a list, with the URL of the next one in `Link` (RFC 8288).
 *
 * @param query the parameters of this page, which the next one keeps
 */
export function pageReply(
  kit: Pick<EndpointKit, 'endpointUrl'>,
  path: string,
  { items, next }: { readonly items: readonly object[]; readonly next?: string | undefined },
  query: Readonly<Record<string, string | undefined>>,
): Reply {
  const json = { items, ...(next !== undefined && { next }) } as Reply['json']
  if (next === undefined) return { json }
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, after: next })) {
    if (value !== undefined) parameters.set(name, value)
  }
  return { json, headers: { link: `<${kit.endpointUrl('admin')}${path}?${parameters}>; rel="next"` } }
}
