import { type ClientOptions, isJsonObject, type JsonObject, parseExactJson } from '@grantry/core'
import type { Fetched } from '../shared/guarded-fetch.ts'
import type { DocumentProblem } from './document.ts'

/** A client, or the reason why the document describes none. */
export type Outcome = { readonly client: ClientOptions } | Failure

/** The reason why there is no client. */
export type Failure = DocumentProblem

const unavailable = (reason: string, text: string): Failure => ({ reason, text, isTemporary: true })
export const refused = (reason: string, text: string): Failure => ({ reason, text, isTemporary: false })

const unreachable = unavailable('document_unreachable', 'the host does not respond, or has no public address')

const fetchProblems = {
  uri_refused: refused('url_refused', 'the URL has a host that is not public'),
  // The same text as for a host that does not exist: strangers must not learn which names have addresses inside the
  // network.
  address_refused: unreachable,
  busy: unavailable('documents_busy', 'too many documents are being fetched'),
  unreachable,
  too_slow: unavailable('document_too_slow', 'the host is too slow'),
  too_large: unavailable('document_too_large', 'the document is too large'),
  type_refused: unavailable('document_type', 'the response is not JSON by its content type'),
} as const satisfies Record<string, Failure>

/** RFC 9110 section 15.5.11: removed for good. No firewall, login page or failed deployment sends it by accident. */
const gone = 410

/** Whether a status shows an outage of the host, and nothing about the document. */
const isOutage = (status: number): boolean => status === 429 || status >= 500

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseExactJson(text)
    return isJsonObject(value) ? (value as JsonObject) : undefined
  } catch {
    // Not JSON, which the caller reports.
    return undefined
  }
}

/**
 * Returns the document of a response, or why it has none. All but 410 is temporary: a challenge, a page or a redirect comes
 * from what stands before the host, and says nothing about the client.
 */
export function documentOf(fetched: Fetched): { readonly document: JsonObject } | Failure {
  if (fetched.problem !== undefined) return fetchProblems[fetched.problem]
  const { status, body } = fetched
  if (status === gone) return refused('document_gone', 'its owner has removed the document')
  if (status !== 200) {
    const text = `the host responds with ${status}`
    return isOutage(status)
      ? unavailable('document_unreachable', text)
      : unavailable('document_missing', `${text}, not with a document`)
  }
  const document = objectIn(body)
  return document === undefined ? unavailable('document_malformed', 'the document is not a JSON object') : { document }
}
