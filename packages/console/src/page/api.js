import { compareClocks } from './dpop.js'

/** @import { SignedIn } from './authorization.js' */
/** @import { AdministrationSetup } from './setup.js' */

/**
 * A response of the admin API.
 *
 * @typedef {object} ApiResponse
 * @property {number} status 0 if there was no response
 * @property {any} body the JSON; `undefined` without one
 * @property {string | undefined} version the ETag, with its quotes
 * @property {string} problem one sentence if the request was refused, otherwise empty
 * @property {string | undefined} member the path of the wrong member
 *
 * @typedef {object} ApiRequest
 * @property {unknown} [body]
 * @property {string} [version] the ETag that the change applies to
 * @property {string} [once] the idempotency key of a creation
 *
 * @typedef {'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} Method
 */

/** @param {Response} response */
async function bodyOf(response) {
  const text = await response.text()
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @param {number} status @param {any} body */
function problemOf(status, body) {
  if (status < 400 && status !== 0) return ''
  if (status === 0) return 'The server does not respond. Is it running, and are you online?'
  if (typeof body?.detail === 'string') return body.detail
  if (status === 429) return 'Too many requests. Wait a moment, then try again.'
  if (status === 503) return 'The server is busy, or its storage is unavailable. Try again.'
  return `The server responded with ${status}.`
}

/**
 * Returns why a response refuses the access of the user; `undefined` if it does not.
 *
 * @param {number} status
 * @param {unknown} error
 */
function refusalIn(status, error) {
  // A refused proof means that the clock of this device is wrong, not that the access has ended.
  if (status === 401) return error === 'invalid_dpop_proof' ? undefined : 'ended'
  if (status !== 403) return undefined
  return error === 'insufficient_scope' ? 'scope_missing' : 'no_administrator'
}

const unsendable = {
  status: 400,
  body: undefined,
  version: undefined,
  problem: 'A browser cannot send a request for the id "." or "..". Use the command line.',
  member: undefined,
}

/**
 * Whether a browser resolves a path to another one: `.` and `..` have no encoded form that it leaves alone.
 *
 * @param {string} path
 */
const leadsElsewhere = (path) => /\/\.{1,2}(?:\/|$)/u.test(path.replace(/\?.*$/su, ''))

/**
 * Creates the client of the admin API.
 *
 * @param {AdministrationSetup} setup
 * @param {SignedIn} signedIn
 * @param {(refusal: 'ended' | 'no_administrator' | 'scope_missing') => void} onRefused the token is no longer active, or does not suffice
 */
export function createApi({ paths }, { accessToken, key }, onRefused) {
  const base = paths.admin ?? ''

  /**
   * Returns the headers of a request with the token.
   *
   * @param {string} method
   * @param {string} path without a query (RFC 9449 section 4.2)
   */
  async function credentials(method, path) {
    const proof = await key.prove({ method, path, accessToken })
    return { authorization: `DPoP ${accessToken}`, dpop: proof }
  }

  /** @param {Method} method @param {string} path @param {ApiRequest} request */
  async function sendOnce(method, path, { body, version, once }) {
    const headers = new Headers(await credentials(method, `${base}${path}`.replace(/\?.*$/su, '')))
    if (body !== undefined)
      headers.set('content-type', method === 'PATCH' ? 'application/merge-patch+json' : 'application/json')
    if (version !== undefined) headers.set('if-match', version)
    if (once !== undefined) headers.set('idempotency-key', once)
    const response = await fetch(`${base}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      credentials: 'omit',
      redirect: 'error',
    })
    compareClocks(response)
    key.nonce = response.headers.get('dpop-nonce') ?? key.nonce
    return { response, content: await bodyOf(response) }
  }

  /** @param {string} path @param {Method} method @param {ApiRequest} request @returns {Promise<ApiResponse>} */
  async function send(method, path, request = {}) {
    if (leadsElsewhere(path)) return unsendable
    let sent = await sendOnce(method, path, request).catch(() => undefined)
    if (sent?.content?.error === 'use_dpop_nonce') sent = await sendOnce(method, path, request).catch(() => undefined)
    const { response, content } = sent ?? {}
    const status = response?.status ?? 0
    const refusal = refusalIn(status, content?.error)
    if (refusal !== undefined) onRefused(refusal)
    return {
      status,
      body: content,
      version: response?.headers.get('etag') ?? undefined,
      problem: problemOf(status, content),
      member: typeof content?.member === 'string' ? content.member : undefined,
    }
  }

  /** @param {string} path */
  const get = (path) => send('GET', path)

  /** @type {Promise<ApiResponse> | undefined} */
  let described

  /** Reads the description of the API, once. */
  async function describe() {
    described ??= get('/openapi.json')
    const response = await described
    if (response.problem !== '') described = undefined
    return response
  }

  /**
   * Reads a file of the console that only administrators get. They prove it with a proof for the root of the API.
   *
   * @param {string} path
   * @param {Record<string, string>} [headers]
   */
  async function file(path, headers = {}) {
    const signed = { ...headers, ...(await credentials('GET', base)) }
    const response = await fetch(path, { headers: signed, credentials: 'omit' })
    if (response.status === 401 && (await bodyOf(response.clone()))?.error === 'invalid_token') onRefused('ended')
    return response
  }

  return { get, send, describe, console: file }
}

/** @typedef {ReturnType<typeof createApi>} Api */

/**
 * Returns a path of the API. Ids are encoded, so that none can lead elsewhere; those that cannot be are not sent.
 *
 * @param {readonly string[]} segments
 * @param {Record<string, string | undefined>} [query]
 */
export function apiPath(segments, query = {}) {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value) parameters.set(name, value)
  const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('')
  return parameters.size === 0 ? path : `${path}?${parameters}`
}
