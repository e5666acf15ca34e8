import { defineGrantCheck, definePlugin, OAuthError } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { setUp } from './contributions.ts'

declare module '@grantry/core' {
  interface Demands {
    test_key: { readonly name: string }
  }
}

describe('the demand that a check contributes', () => {
  /** A refresh token that only the holder of a key can use. */
  const bound = definePlugin('test-key', [
    defineGrantCheck({
      settles: 'test_key',
      grantTypes: ['authorization_code', 'refresh_token'],
      params: v.object({ key: v.optional(v.string()) }),
      check({ params: { key }, demand }) {
        if (demand !== undefined && key !== demand.name) {
          throw new OAuthError('invalid_grant', 'The key is not valid', { reason: 'plugin:test-key:mismatch' })
        }
        return key === undefined || demand !== undefined ? undefined : { demand: { name: key } }
      },
    }),
  ])

  test('binds the refresh token, and every one after it', async () => {
    const f = await setUp(bound)
    let { body } = await f.redeem(await f.code(), { key: 'mine' })
    for (let rotation = 0; rotation < 3; rotation += 1) {
      for (const more of [{}, { key: 'other' }] as Record<string, string>[]) {
        const { status, failure } = await f.refresh(body.refresh_token, more)
        expect([status, failure]).toEqual([400, 'plugin:test-key:mismatch'])
      }
      const next = await f.refresh(body.refresh_token, { key: 'mine' })
      expect(next.status).toBe(200)
      body = next.body
    }
  })

  test('is refused without the plugin: never a downgrade', async () => {
    const storage = memoryDriver()
    const f = await setUp(bound, storage)
    const { body } = await f.redeem(await f.code(), { key: 'mine' })
    const incomplete = await setUp([], storage)
    const { status, failure } = await incomplete.refresh(body.refresh_token, { key: 'mine' })
    expect([status, failure]).toEqual([400, 'demand_unsettled'])
  })

  test('is not carried over from a code', async () => {
    const once = definePlugin('once', [
      defineGrantCheck({
        settles: 'test_key',
        grantTypes: ['authorization_code'],
        params: v.object({}),
        authorization: { params: v.object({}), check: () => ({ demand: { name: 'code' } }) },
        check: () => undefined,
      }),
    ])
    const f = await setUp(once)
    const { body } = await f.redeem(await f.code())
    expect((await f.refresh(body.refresh_token)).status).toBe(200)
  })
})
