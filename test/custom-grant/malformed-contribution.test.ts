import { type Contribution, defineGrantCheck, definePlugin } from '@grantry/core'
import { testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { mail, setUp } from './contributions.ts'

describe('a malformed contribution is a defect of the plugin', () => {
  const failing = async (contribution: unknown) => {
    const check = () => contribution as Contribution
    const { post } = await setUp(
      definePlugin('broken', [defineGrantCheck({ grantTypes: 'all', params: v.object({}), check })]),
    )
    return post('token', { grant_type: 'client_credentials', scope: 'orders' }, testClient)
  }

  test.each([
    ['an unknown member', { scopes: ['mail'] }, /malformed contribution/u],
    ['an audience that is not a list', { audience: mail }, /malformed contribution/u],
    ['text', 'all', /malformed contribution/u],
    ['a demand that it does not settle', { demand: { name: 'x' } }, /cannot make a demand/u],
  ])('%s', async (_, contribution, message) => {
    const { status, body, failure } = await failing(contribution)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(String(failure)).toMatch(message)
  })
})
