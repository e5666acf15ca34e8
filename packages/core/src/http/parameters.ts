import { OAuthError } from '../errors/oauth-error.ts'
import { after } from '../promises.ts'
import { type OutputOf, type Schema, type SchemaIssues, validate } from '../standard-schema.ts'
import type { MaybePromise } from '../types.ts'

/** Request parameters, under their wire names. The object has no prototype, so `__proto__` is an ordinary parameter. */
export type RequestParameters = Readonly<Record<string, string>>

/** Parameters from a form, a query or a JSON body. */
export type Parameters = Readonly<Record<string, unknown>>

const malformed = (reason: string, cause?: unknown): OAuthError =>
  new OAuthError('invalid_request', 'The parameters are not valid form encoding', { reason, cause })

// RFC 8707 section 2 and RFC 8693 section 2.1. Their values contain no spaces, so a space can separate several of them.
const repeatable: ReadonlySet<string> = new Set(['resource', 'audience'])

function decode(part: string): string {
  const spaced = part.includes('+') ? part.replaceAll('+', ' ') : part
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch (cause) {
    // `URLSearchParams` keeps `%zz` and replaces invalid UTF-8, so two parties could read different values.
    throw malformed('malformed_encoding', cause)
  }
}

/**
 * Parses `application/x-www-form-urlencoded` text strictly: rejects repeated names and malformed encoding, and treats
 * an empty value as omitted. Only `resource` and `audience` can repeat; their values are joined with a space.
 *
 * @throws OAuthError `invalid_request`
 * @see RFC 6749 section 3.2; wire contract, section 1
 */
export function parseParameters(text: string): RequestParameters {
  const parameters: Record<string, string> = Object.create(null)
  if (text === '') return parameters
  let empty: Set<string> | undefined
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    const earlier = parameters[name]
    if ((earlier !== undefined || empty?.has(name)) && !repeatable.has(name)) {
      throw new OAuthError('invalid_request', 'A parameter is repeated', { reason: 'repeated_parameter' })
    }
    if (value === '') empty = (empty ?? new Set()).add(name)
    else parameters[name] = earlier === undefined ? value : `${earlier} ${value}`
  }
  return parameters
}

const maxDetail = 200

/** Characters. Shorter pieces of a value are in many messages. */
const pieceLength = 6

/** Characters, as JSON. In a larger request, the search for a message would take too long. */
const maxSearched = 4096

/** Whether a text repeats a value: all of a short one, or any piece of a long one, which the schema may have cut. */
function repeats(text: string, value: string): boolean {
  if (value.length <= pieceLength) return value.length > 1 && text.includes(value)
  for (let at = 0; at + pieceLength <= text.length; at += 1) {
    if (value.includes(text.slice(at, at + pieceLength))) return true
  }
  return false
}

/** Whether a text repeats a value, or a part of one that comes from a JSON body: a member, its name, or a number. */
function contains(text: string, value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'number') return repeats(text, String(value).toLowerCase())
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => contains(text, name) || contains(text, member))
}

/** What a schema can name. Another name comes from the caller: it could forge a line of a log, or be a secret. */
const nameForm = /^[A-Za-z][\w.-]{0,39}$/u

/**
 * Returns the message of a schema for the operator, unless it repeats a part of the request, which could be a secret.
 * Returns nothing for a large request.
 */
function detailOf(message: unknown, parameters: Parameters): string | undefined {
  if (typeof message !== 'string' || JSON.stringify(parameters).length > maxSearched) return undefined
  const detail = message.slice(0, maxDetail)
  // A schema may have changed the case of the value.
  const text = detail.toLowerCase()
  const isRepeated = ([name, value]: readonly [string, unknown]): boolean =>
    contains(text, value) || (!nameForm.test(name) && contains(text, name))
  return Object.entries(parameters).some(isRepeated) ? undefined : detail
}

function refusalOf([issue]: SchemaIssues, parameters: Parameters): OAuthError {
  const first = issue?.path?.[0]
  const name = typeof first === 'object' ? first.key : first
  const detail = detailOf(issue?.message, parameters)
  if (typeof name !== 'string' || !nameForm.test(name)) {
    const reason = 'parameters_inconsistent'
    return new OAuthError('invalid_request', 'The parameters do not fit together', { reason, detail })
  }
  const missing = parameters[name] === undefined
  return new OAuthError('invalid_request', `The parameter ${name} is ${missing ? 'required' : 'malformed'}`, {
    reason: missing ? 'parameter_missing' : 'parameter_malformed',
    detail,
  })
}

/**
 * Validates request parameters. Synchronous if the schema is.
 *
 * @throws OAuthError `invalid_request` that names the first parameter that is missing or malformed.
 */
export const parseFields = <S extends Schema>(schema: S, parameters: Parameters): MaybePromise<OutputOf<S>> =>
  after(validate(schema, parameters), (result) => {
    if (result.issues === undefined) return result.value
    throw refusalOf(result.issues, parameters)
  })
