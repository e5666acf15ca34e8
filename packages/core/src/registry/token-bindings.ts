import type { Client } from '../directory/client.ts'
import type { TokenScheme } from '../errors/error-response.ts'
import type { Confirmation } from '../plugin/confirmation.ts'
import type { TokenBinding } from '../plugin/token-binding.ts'
import { byClaim, type OwnedPart } from './collect.ts'

/** The token bindings of the installed plugins. */
export interface TokenBindings {
  readonly all: readonly OwnedPart<TokenBinding>[]
  /** Whether plugins can verify all these keys. */
  canVerify(confirmation: Confirmation | undefined): boolean
  /** Whether the binding has a scheme besides `Bearer`. */
  hasOwnScheme(member: string): boolean
  /** Returns the scheme of tokens that are bound to these keys: that of a binding, or `Bearer`. */
  schemeOf(confirmation: Confirmation | undefined): string
  /** Returns the keys, of those that a request has proved, to which a new refresh token is bound. */
  refreshConfirmationOf(client: Client, proved: Confirmation | undefined): Confirmation | undefined
  /** The schemes of access tokens, with the parameters of their challenges. `Bearer` is the first. */
  readonly schemes: readonly [TokenScheme, ...TokenScheme[]]
  /** Response headers that bindings set, in lower case. */
  readonly exposedHeaders: readonly string[]
}

export const bearer = 'Bearer'

const memberForm = /^[A-Za-z][\w#.:-]{0,49}$/u
const schemeForm = /^[A-Za-z][\w-]{0,29}$/u
const headerForm = /^[a-z][a-z\d-]{0,49}$/u
/** Headers of which the core, or the adapter, decides the value. */
const coreHeaders =
  /^(?:access-control-.*|allow|cache-control|connection|content-.*|date|keep-alive|location|pragma|referrer-policy|retry-after|set-cookie|traceparent|trailer|transfer-encoding|upgrade|vary|www-authenticate|x-.*)$/u
// RFC 9110 section 11.2: a challenge has each parameter once, and the core writes these.
const parameterForm = /^(?!(?:realm|scope|error|error_description)$)[a-z][a-z\d_-]{0,29}$/u
const valueForm = /^[\x20-\x21\x23-\x5B\x5D-\x7E]{0,300}$/u

function assertBinding({ plugin, part }: OwnedPart<TokenBinding>): void {
  const { member, scheme, challenge, exposedHeaders = [], bindsRefreshTokens, admit, prove } = part
  if (typeof member !== 'string' || !memberForm.test(member)) {
    throw new TypeError(`plugins: ${plugin} has a token binding with an invalid member; use the name of one in cnf`)
  }
  const name = `the token binding ${member} of ${plugin}`
  if (typeof prove !== 'function') throw new TypeError(`plugins: ${name} requires prove()`)
  for (const [method, value] of Object.entries({ bindsRefreshTokens, admit })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new TypeError(`plugins: ${name} has ${method}, which is not a function`)
    }
  }
  const isOwn = scheme !== undefined && scheme !== bearer
  if (isOwn && !(typeof scheme === 'string' && schemeForm.test(scheme) && !/^(?:basic|bearer)$/iu.test(scheme))) {
    throw new TypeError(`plugins: ${name} has the invalid scheme "${String(scheme)}"`)
  }
  if (challenge !== undefined && !isOwn) {
    throw new TypeError(`plugins: ${name} can have a challenge only with a scheme of its own`)
  }
  for (const [parameter, value] of Object.entries(challenge ?? {})) {
    if (parameterForm.test(parameter) && typeof value === 'string' && valueForm.test(value)) continue
    throw new TypeError(`plugins: ${name} has the invalid parameter ${parameter} of its challenge`)
  }
  const isOwnHeader = (header: unknown): boolean =>
    typeof header === 'string' && headerForm.test(header) && !coreHeaders.test(header)
  if (!Array.isArray(exposedHeaders) || !exposedHeaders.every(isOwnHeader)) {
    throw new TypeError(`plugins: ${name} has invalid exposedHeaders; use names of its own, in lower case`)
  }
}

/** @throws TypeError when a binding is malformed, or two plugins provide the same member or scheme. */
export function tokenBindingsOf(all: readonly OwnedPart<TokenBinding>[]): TokenBindings {
  for (const binding of all) assertBinding(binding)
  const byMember = byClaim(all, 'the token binding', ({ member }) => member)
  const own = byClaim(all, 'the token scheme', ({ scheme = bearer }) =>
    scheme === bearer ? undefined : scheme.toLowerCase(),
  )
  const schemes = new Map([...own.values()].map(({ part }) => [part.member, part.scheme]))
  const parametersOf = ({ challenge = {} }: TokenBinding): string =>
    Object.entries(challenge)
      .map(([name, value]) => `, ${name}="${value}"`)
      .join('')

  function isRefreshBound(client: Client, member: string): boolean {
    if (client.public) return true
    const part = byMember.get(member)?.part
    if (part?.bindsRefreshTokens === undefined) return false
    const isBound: unknown = part.bindsRefreshTokens(client)
    // A promise, for example: a token that should be bound must not be issued unbound.
    if (typeof isBound !== 'boolean') throw new TypeError(`bindsRefreshTokens() of ${member} must return true or false`)
    return isBound
  }

  return {
    all,
    canVerify: (keys) => keys !== undefined && Object.keys(keys).every((member) => byMember.has(member)),
    hasOwnScheme: (member) => schemes.has(member),
    schemeOf(confirmation) {
      const member = Object.keys(confirmation ?? {}).find((name) => schemes.has(name))
      return (member === undefined ? undefined : schemes.get(member)) ?? bearer
    },
    refreshConfirmationOf(client, proved) {
      if (proved === undefined) return undefined
      const bound = Object.entries(proved).filter(([member]) => isRefreshBound(client, member))
      return bound.length === 0 ? undefined : Object.fromEntries(bound)
    },
    schemes: [
      { name: bearer, parameters: '' },
      ...[...own.values()].map(({ part }) => ({ name: part.scheme ?? bearer, parameters: parametersOf(part) })),
    ],
    exposedHeaders: [...new Set(all.flatMap(({ part }) => part.exposedHeaders ?? []))],
  }
}
