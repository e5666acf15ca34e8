import type { IncomingMessage } from 'node:http'
import { badHost, badMethod, type Refusal, repeatedHeader } from './refusal.ts'

/** The path and query of a request target, or `undefined` for what no handler could be asked (`*`, an authority). */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target
  // RFC 9112 section 3.2.2: the absolute form is understood; its host means nothing here, the issuer is configuration.
  const rest = /^https?:\/\/[^/?#]*(.*)$/iu.exec(target)?.[1]
  if (rest === undefined) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}

// The Fetch standard forbids these methods, so no Request can be made of them.
const forbiddenMethods: ReadonlySet<string> = new Set(['CONNECT', 'TRACE', 'TRACK'])

// RFC 9112 section 3.2: whoever sends another Host gets 400, though nothing here is derived from it.
const hostForm = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.v]+\])(?::\d*)?$/iu

// Node keeps the first of several and drops the others: two parties could then see two callers, or two bodies.
const singular = ['host', 'content-type', 'authorization'] as const

function repeatsSingular(rawHeaders: readonly string[]): boolean {
  let seen = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    // Each has a length of its own, so most names cost no comparison.
    const which = singular.findIndex(({ length }) => length === name.length)
    if (which < 0 || name.toLowerCase() !== singular[which]) continue
    const bit = 1 << which
    if ((seen & bit) !== 0) return true
    seen |= bit
  }
  return false
}

/** Why no handler is asked this; `undefined` where nothing is wrong with its head. */
export function refusalOf({ method = '', headers, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (forbiddenMethods.has(method)) return badMethod
  if (headers.host !== undefined && !hostForm.test(headers.host)) return badHost
  return repeatsSingular(rawHeaders) ? repeatedHeader : undefined
}
