/**
 * Attack: a caller sends a secret that a schema refuses, and the message of the schema repeats it. The readers of the log
 * then know the secret. Valibot repeats the value by default, also when it is a member of a JSON body, a number, or
 * what the schema has made of the parameter. A strict schema repeats the name of an unknown parameter: it can contain a
 * line break, which forges a line of the log, or a secret.
 */
import { defineEndpoint, definePlugin, type Schema } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { z } from 'zod'

const secret = 'hunter2-and-more'

async function detailOf(params: Schema, body: unknown) {
  const endpoint = defineEndpoint({
    name: 'settings',
    path: '/settings',
    methods: ['POST'],
    body: 'json',
    caller: 'anyone',
    params,
    handle: () => ({}),
  })
  const { provider, events } = await createTestProvider({ plugins: definePlugin('settings', [endpoint]) })
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  expect((await provider.fetch(new Request('https://id.example.com/settings', init))).status).toBe(400)
  const event = events.find(({ type }) => type === 'endpoint_failed')
  expect(event).toMatchObject({ reason: expect.stringMatching(/^parameter_malformed$|^parameters_inconsistent$/u) })
  return event?.type === 'endpoint_failed' ? event.detail : undefined
}

test.each<[string, Schema, unknown]>([
  ['a member of an object', v.object({ user: v.object({ password: v.number() }) }), { user: { password: secret } }],
  ['an entry of an array', v.object({ passwords: v.array(v.number()) }), { passwords: [secret] }],
  ['a number', v.object({ pin: v.pipe(v.number(), v.minValue(1_000_000)) }), { pin: 482_913 }],
  [
    'a trimmed text',
    v.object({ password: v.pipe(v.string(), v.trim(), v.email()) }),
    { password: `          ${secret}` },
  ],
  [
    'a part of a text',
    v.object({
      password: v.pipe(
        v.string(),
        v.transform((text) => text.slice(4)),
        v.email(),
      ),
    }),
    { password: `abcd${secret}` },
  ],
  [
    'a text in lower case',
    v.object({ password: v.pipe(v.string(), v.toLowerCase(), v.email()) }),
    { password: secret.toUpperCase() },
  ],
  ['the name of a member', v.object({ map: v.record(v.picklist(['a']), v.string()) }), { map: { [secret]: 'x' } }],
])('no event contains what a schema repeats: %s', async (_, schema, body) => {
  expect(await detailOf(schema, body)).toBeUndefined()
})

test('a message without a value of the request reaches the operator', async () => {
  const schema = v.object({ user: v.object({ password: v.pipe(v.string(), v.minLength(99, 'is too short')) }) })
  expect(await detailOf(schema, { user: { password: secret, age: 7 } })).toBe('is too short')
})

// Attack: many values, with which every piece of the message would be compared.
test('a request of more than 4096 characters is not searched, and its event has no message', async () => {
  const schema = v.object({ users: v.pipe(v.array(v.string()), v.maxLength(1, 'are too many')) })
  expect(await detailOf(schema, { users: ['a'.repeat(2000), 'b'.repeat(2000)] })).toBe('are too many')
  expect(await detailOf(schema, { users: ['a'.repeat(2000), 'b'.repeat(2100)] })).toBeUndefined()
})

test.each<[string, Schema]>([
  ['strict valibot', v.strictObject({ pin: v.optional(v.string()) })],
  ['a record of valibot', v.record(v.picklist(['pin']), v.string())],
  ['strict zod', z.strictObject({ pin: z.string().optional() })],
])('neither an event nor the response repeats what cannot be the name of a parameter: %s', async (_, params) => {
  const endpoint = defineEndpoint({
    name: 'settings',
    path: '/settings',
    methods: ['POST'],
    caller: 'anyone',
    params,
    handle: () => ({}),
  })
  const { post, events } = await createTestProvider({ plugins: definePlugin('settings', [endpoint]) })
  for (const name of [`pin\n${secret}`, `${secret}-`.repeat(3), `=${secret}`]) {
    const { status, body } = await post('settings', { [name]: 'x' })
    expect(status).toBe(400)
    expect(JSON.stringify([body, events])).not.toContain(secret)
  }
})
