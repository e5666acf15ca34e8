import * as v from 'valibot'
import { functionSchema } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import { createKeyProofs } from './key-proofs.ts'
import { byClaim, type Members, type Owned, partKind, required, text } from './part-kind.ts'
import { bearer, type TokenBinding, type TokenBindings } from './token-binding.ts'

/** Headers of which the core, or the adapter, decides the value. */
const coreHeaders =
  /^(?:access-control-.*|allow|cache-control|connection|content-.*|date|keep-alive|location|pragma|referrer-policy|retry-after|set-cookie|traceparent|trailer|transfer-encoding|upgrade|vary|www-authenticate|x-.*)$/u
// RFC 9110 section 11.2: a challenge has each parameter once, and the core writes these.
const parameterForm = /^(?!(?:realm|scope|error|error_description)$)[a-z][a-z\d_-]{0,29}$/u

const bindingKind = /* @__PURE__ */ partKind<TokenBinding, TokenBindings>('token-binding', {
  title: 'token binding',
  name: 'member',
  schemas: () => ({
    member: text(/^[A-Za-z][\w#.:-]{0,49}$/u, 'must be the name of a member of cnf, such as jkt'),
    scheme: v.optional(
      text(
        /^(?:Bearer|(?![Bb][Aa][Ss][Ii][Cc]$|[Bb][Ee][Aa][Rr][Ee][Rr]$)[A-Za-z][\w-]{0,29})$/u,
        'must be the scheme of its tokens, such as DPoP',
      ),
    ),
    challenge: v.optional(
      v.record(
        text(parameterForm, 'is not the name of a parameter that the challenge can have'),
        text(/^[\x20-\x21\x23-\x5B\x5D-\x7E]{0,300}$/u, 'must be printable ASCII without quotes'),
        'must be an object of parameters',
      ),
    ),
    exposedHeaders: v.optional(
      v.array(
        v.pipe(
          text(/^[a-z][a-z\d-]{0,49}$/u, 'must be the name of a header, in lower case'),
          v.check((header) => !coreHeaders.test(header), 'is a header of the core or of the adapter'),
        ),
        'must be an array of headers',
      ),
    ),
    bindsRefreshTokens: functionSchema(),
    admit: functionSchema(),
    prove: required(),
  }),
  problemOf: ({ scheme = bearer, challenge }) =>
    challenge !== undefined && scheme === bearer && 'can have a challenge only with a scheme of its own',
  collect: tokenBindingsOf,
})

/** Returns the part of a plugin that verifies which key a request proves. @see RFC 7800 section 3.1 */
export const defineTokenBinding = (binding: Members<TokenBinding>): TokenBinding => ({
  ...binding,
  kind: 'token-binding',
  '~kind': bindingKind,
})

/** @throws TypeError when two plugins provide the same member or scheme. */
function tokenBindingsOf(all: readonly Owned<TokenBinding>[]): TokenBindings {
  const byMember = byClaim(all, 'the token binding', ({ member }) => member)
  const byScheme = byClaim(all, 'the token scheme', ({ scheme = bearer }) =>
    scheme === bearer ? undefined : scheme.toLowerCase(),
  )
  const schemes = new Map([...byScheme.values()].map(({ part }) => [part.member, part.scheme]))
  const parametersOf = ({ challenge = {} }: TokenBinding): string =>
    Object.entries(challenge)
      .map(([name, value]) => `, ${name}="${value}"`)
      .join('')

  function isRefreshBound(client: Client, member: string): boolean {
    if (client.public) return true
    const part = byMember.get(member)?.part
    if (part?.bindsRefreshTokens === undefined) return false
    const isBound: unknown = part.bindsRefreshTokens(client)
    // Refuses a promise, for example: a token that should be bound must not be issued unbound.
    if (typeof isBound !== 'boolean') throw new TypeError(`bindsRefreshTokens() of ${member} must return true or false`)
    return isBound
  }

  const hasOwnScheme = (member: string): boolean => schemes.has(member)
  const bindings: Omit<TokenBindings, 'createKeyProofs'> = {
    areInstalled: true,
    canVerify: (keys) => keys !== undefined && Object.keys(keys).every((member) => byMember.has(member)),
    schemeOf(confirmation) {
      const member = Object.keys(confirmation ?? {}).find(hasOwnScheme)
      return (member === undefined ? undefined : schemes.get(member)) ?? bearer
    },
    refreshConfirmationOf(client, proved) {
      if (proved === undefined) return undefined
      const bound = Object.entries(proved).filter(([member]) => isRefreshBound(client, member))
      return bound.length === 0 ? undefined : Object.fromEntries(bound)
    },
    schemes: [
      { name: bearer, parameters: '' },
      ...[...byScheme.values()].map(({ part }) => ({ name: part.scheme ?? bearer, parameters: parametersOf(part) })),
    ],
    exposedHeaders: [...new Set(all.flatMap(({ part }) => part.exposedHeaders ?? []))],
  }
  return { ...bindings, createKeyProofs: (deps) => createKeyProofs({ ...bindings, all, hasOwnScheme }, deps) }
}
