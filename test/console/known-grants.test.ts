import { defineGrant } from '@grantry/core'
import { resourceIndicators } from '@grantry/plugins/resource-indicators'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { knownGrants } from '../../packages/console/src/known-grants.ts'
import { builtInPlugins } from '../support/fixture.ts'

const fieldsOf = (grantType: string, plugins = knownGrants(builtInPlugins)) =>
  plugins.find((grant) => grant.grantType === grantType)?.fields

test('returns the parameters of the built-in grants and of their grant checks', () => {
  expect(knownGrants(builtInPlugins).map(({ grantType }) => grantType)).toEqual([
    'client_credentials',
    'password',
    'authorization_code',
    'refresh_token',
  ])
  expect(fieldsOf('client_credentials')).toEqual([])
  expect(fieldsOf('password')).toEqual([
    { name: 'username', required: true },
    { name: 'password', required: true },
    { name: 'acr_values', required: false },
  ])
  expect(fieldsOf('authorization_code')).toEqual([
    { name: 'code', required: true },
    { name: 'redirect_uri', required: false },
    { name: 'code_verifier', required: false },
  ])
})

test.each([
  [
    'an object in a pipe',
    v.pipe(
      v.object({ a: v.string() }),
      v.check(() => true),
    ),
    [{ name: 'a', required: true }],
  ],
  ['a strict object', v.strictObject({ a: v.nullish(v.string()) }), [{ name: 'a', required: false }]],
  ['a record without named fields', v.record(v.string(), v.string()), undefined],
  ['a union of objects', v.union([v.object({ a: v.string() }), v.object({ b: v.string() })]), undefined],
])('a custom grant whose params are %s', (_, params, fields) => {
  const custom = defineGrant({ grantType: 'urn:example:custom', params, handle: ({ scopes }) => ({ scopes }) })
  expect(fieldsOf('urn:example:custom', knownGrants([custom]))).toEqual(fields)
})

test('adds the parameters of a check of all grant types to each grant', () => {
  const resource = { name: 'resource', required: false }
  const grants = knownGrants([...builtInPlugins, resourceIndicators()])
  expect(grants.map(({ fields }) => fields?.at(-1))).toEqual(grants.map(() => resource))
})

test('finds plugins in nested lists and skips falsy ones', () => {
  expect(knownGrants([[builtInPlugins, false], null, undefined]).length).toBe(4)
})
