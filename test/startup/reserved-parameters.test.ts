/**
 * The core reads some parameters of the token endpoint itself and hides them from plugins. A plugin that declares one
 * would never receive it, so it is refused at startup, whatever library describes its parameters.
 */
import { defineEndpoint, defineGrant, defineGrantCheck, definePlugin, type Schema } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const text = v.string()
const badge = z.object({ badge: z.string() })
const scope = z.object({ scope: z.string() })

const schemas: Readonly<Record<string, Schema>> = {
  'an object of valibot': v.object({ badge: text, scope: text }),
  'a loose object of valibot': v.looseObject({ scope: text }),
  'an object with other members of valibot': v.objectWithRest({ scope: text }, text),
  'an asynchronous object of valibot': v.objectAsync({ scope: text }),
  'a pipe of valibot': v.pipe(
    v.object({ scope: text }),
    v.transform(() => ({})),
  ),
  'a union of valibot': v.union([v.object({ badge: text }), v.object({ scope: text })]),
  'a variant of valibot': v.variant('badge', [v.object({ badge: v.literal('a'), scope: text })]),
  'an intersection of valibot': v.intersect([v.object({ badge: text }), v.looseObject({ scope: text })]),
  'an object of zod': scope,
  'a loose object of zod': scope.loose(),
  'a refined object of zod': scope.refine(() => true),
  'a pipe of zod': scope.transform(() => ({})),
  'a read-only object of zod': scope.readonly(),
  'a union of zod': z.union([badge, scope]),
  'an intersection of zod': z.intersection(badge, scope),
}

const grantType = 'urn:example:badge'
const grantWith = (params: Schema) => defineGrant({ grantType, params, handle: ({ scopes }) => ({ scopes }) })
const checkWith = (params: Schema) =>
  definePlugin('door', [defineGrantCheck({ grantTypes: 'all', params, check: () => undefined })])
const endpointWith = (params: Schema) =>
  definePlugin('door', [
    defineEndpoint({ name: 'door', path: '/door', methods: ['POST'], caller: 'client', params, handle: () => ({}) }),
  ])

describe.each(Object.entries(schemas))('%s', (_, params) => {
  test('cannot declare the scope of a grant', async () => {
    const message = `plugins: the grant ${grantType} cannot have scope in params, because the core reads it; remove it`
    await expect(createTestProvider({ plugins: grantWith(params) })).rejects.toThrow(new TypeError(message))
  })

  test('cannot declare the scope of a grant check', async () => {
    const message = 'plugins: the grant check of door cannot have scope in params, because the core reads it; remove it'
    await expect(createTestProvider({ plugins: checkWith(params) })).rejects.toThrow(new TypeError(message))
  })
})

test.each(['grant_type', 'client_id', 'client_secret'])('neither a grant nor a check can declare %s', async (name) => {
  for (const plugins of [grantWith(v.object({ [name]: text })), checkWith(z.object({ [name]: z.string() }))]) {
    await expect(createTestProvider({ plugins })).rejects.toThrow(`cannot have ${name} in params`)
  }
})

test('an endpoint can declare scope, and no schema of it can declare the secret of the client', async () => {
  for (const params of Object.values(schemas)) await createTestProvider({ plugins: endpointWith(params) })
  for (const params of [
    v.looseObject({ client_secret: text }),
    z.union([badge, z.object({ client_secret: z.string() })]),
  ])
    await expect(createTestProvider({ plugins: endpointWith(params) })).rejects.toThrow(
      'the endpoint door of door cannot have client_secret in params, because the core reads it; remove it',
    )
})

test('a check can read the scope of an authorization request', async () => {
  const params = v.object({ scope: v.optional(text) })
  const check = defineGrantCheck({
    grantTypes: 'all',
    params: v.object({}),
    authorization: { params, check: () => undefined },
    check: () => undefined,
  })
  await createTestProvider({ plugins: definePlugin('door', [check]) })
})
