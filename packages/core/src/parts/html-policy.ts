import { isPrivateUseScheme } from '../directory/redirect-uri.ts'
import type { PlainResponse } from '../http/plain-response.ts'
import { noStoreHeaders } from '../http/plain-response.ts'
import { isLocalhostUrl } from '../this-machine.ts'

/**
 * Sources that a page may load in spite of the strict default policy.
 *
 * @see Content Security Policy Level 3, section 2.3.1
 */
export interface HtmlSources {
  /** `'self'`, an `https` origin, or the hash of an inline style (`'sha256-…'`, with the quotes). */
  readonly style?: readonly string[] | undefined
  /** `'self'`, `data:`, or an `https` origin. */
  readonly image?: readonly string[] | undefined
  /** Hashes of inline scripts (`'sha256-…'`, with the quotes). Scripts have no other sources. */
  readonly script?: readonly string[] | undefined
  /**
   * Where forms of the page may lead besides `'self'`: origins, `https:`, `http:`, private-use schemes
   * (`com.example.app:`), or `*` for everywhere. Browsers apply it to every redirect that follows a form, also to those of
   * other sites. Hence a form that ends at a redirect URI needs `*`: a client can redirect to any application.
   */
  readonly form?: readonly string[] | undefined
  /** The `https` origins whose pages can show this one in a frame. Default: none. They can hide what a user clicks. */
  readonly ancestor?: readonly string[] | undefined
}

const self = /^'self'$/u
const httpsOrigin = /^https:\/\/[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/u
const hash = /^'sha(?:256-[A-Za-z\d+/]{43}=|384-[A-Za-z\d+/]{64}|512-[A-Za-z\d+/]{86}==)'$/u
const httpOrigin = /^http:\/\/[a-z\d](?:[a-z\d.-]*[a-z\d])?(?::\d{1,5})?$/u
const webScheme = /^https?:$/u

const forms: Readonly<Record<keyof HtmlSources, readonly RegExp[]>> = {
  style: [self, httpsOrigin, hash],
  image: [self, httpsOrigin, /^data:$/u],
  script: [hash],
  form: [self, httpsOrigin, httpOrigin, webScheme, /^\*$/u],
  ancestor: [httpsOrigin],
}

/** In a policy, `*` matches no private-use scheme. Therefore the policy has no `form-action` for this value. */
const anywhere = '*'

/** A nested `;` or space would add a directive or a source to the policy. */
function sourcesOf(kind: keyof HtmlSources, sources: readonly string[] | undefined): string {
  if (sources === undefined) return ''
  const isSource = (source: unknown): boolean =>
    typeof source === 'string' &&
    source.length <= 300 &&
    (forms[kind].some((form) => form.test(source)) || (kind === 'form' && isPrivateUseScheme(source)))
  if (!Array.isArray(sources) || !sources.every(isSource)) throw new TypeError(`A reply has an invalid ${kind} source`)
  return sources.map((source) => ` ${source}`).join('')
}

const noFrames = "frame-ancestors 'none'"
const strictPolicy = `default-src 'none'; form-action 'self'; ${noFrames}; base-uri 'none'`

const isFramed = ({ ancestor }: HtmlSources): boolean => ancestor !== undefined && ancestor.length !== 0

function policyOf(sources: HtmlSources): string {
  const unknown = Object.keys(sources).find((kind) => !Object.hasOwn(forms, kind))
  if (unknown !== undefined) throw new TypeError(`A reply has sources of the unknown kind ${unknown}`)
  const { style, image, script, form, ancestor } = sources
  const directive = (name: string, texts: string): string => (texts === '' ? '' : `; ${name}${texts}`)
  const more =
    directive('style-src', sourcesOf('style', style)) +
    directive('img-src', sourcesOf('image', image)) +
    directive('script-src', sourcesOf('script', script))
  const targets = sourcesOf('form', form)
  const formAction = form?.includes(anywhere) === true ? '' : ` form-action 'self'${targets};`
  const frames = isFramed(sources) ? `frame-ancestors${sourcesOf('ancestor', ancestor)}` : noFrames
  return strictPolicy.replace(" form-action 'self';", formAction).replace(noFrames, frames) + more
}

// Functions, so that a bundler can leave the headers out of a program without pages.
const strictHeaders = /* @__PURE__ */ (() =>
  Object.freeze({
    'content-type': 'text/html; charset=utf-8',
    ...noStoreHeaders,
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': strictPolicy,
  }))()

const strictTransportHeaders = /* @__PURE__ */ (() =>
  Object.freeze({ ...strictHeaders, 'strict-transport-security': 'max-age=31536000' }))()

/**
 * Browsers apply the header to all ports of a host: with a port, and on `localhost`, to servers of others, which may have
 * no TLS.
 */
const hasHostOfItsOwn = (issuer: string): boolean =>
  /^https:\/\/[^/:[\]]+(?:\/|$)/iu.test(issuer) && !isLocalhostUrl(issuer)

/**
 * Returns the headers of an HTML page: a strict content security policy with additional sources, no caching, no framing
 * (except by `sources.ancestor`) and no referrer. For pages of the host.
 *
 * @param issuer if it is `https` without a port, browsers use TLS for its host for a year (RFC 6797)
 * @throws TypeError when a source is malformed.
 */
export function htmlHeaders(sources: HtmlSources | undefined, issuer = ''): Readonly<Record<string, string>> {
  const headers = hasHostOfItsOwn(issuer) ? strictTransportHeaders : strictHeaders
  if (sources === undefined) return headers
  const policy = { 'content-security-policy': policyOf(sources) }
  if (!isFramed(sources)) return { ...headers, ...policy }
  // `X-Frame-Options` cannot name an origin, and would forbid all frames.
  const { 'x-frame-options': _, ...others } = headers
  return { ...others, ...policy }
}

/** Returns the headers of a page without its content. */
export const emptyPage = (issuer: string): PlainResponse => ({
  status: 200,
  headers: htmlHeaders(undefined, issuer),
  body: null,
})

/** Escapes a text for HTML, also in attributes with quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`)
