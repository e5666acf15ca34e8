import { type GrantResult, passwords } from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

type Subject = NonNullable<GrantResult['subject']>

/** A token request to a grant that returns what `change` makes of the subject of `authenticateUser`. */
async function request(change: (subject: Subject) => Subject) {
  const grant = testGrant({
    grantType: 'urn:example:login',
    requires: [passwords],
    async handle({ scopes }, kit) {
      const subject = await kit.authenticateUser({ username: 'alice', password: 'right' })
      return { subject: change(subject as Subject), scopes }
    },
  })
  const users = { authenticate: () => ({ sub: 'alice', acr: 'low' }) }
  const f = await createTestProvider({ plugins: [grant], users })
  const { status, body } = await f.post('token', { grant_type: grant.grantType, scope: 'api1' }, testClient)
  const [failure] = f.events.flatMap((event) => (event.type === 'unhandled_failure' ? [event.cause.message] : []))
  return { status, body, cause: failure }
}

// The core does not validate the subject a second time, so a grant must not be able to change it in between.
describe('the subject that authenticateUser returns', () => {
  test('can be returned as it is', async () => {
    expect(await request((subject) => subject)).toMatchObject({ status: 200 })
  })

  test('is validated if the grant returns a changed copy', async () => {
    expect(await request((subject) => ({ ...subject, acr: 'high' }))).toMatchObject({ status: 200 })
    for (const change of [{ sub: '' }, { amr: [] }, { acr: 'x'.repeat(201) }, { more: true }]) {
      const { status, cause } = await request((subject) => ({ ...subject, ...change }))
      expect({ change, status }).toEqual({ change, status: 500 })
      expect(cause).toMatch(/returned a malformed result: subject/u)
    }
  })

  test.each<[string, (subject: Subject) => unknown]>([
    ['a member', (subject) => Object.assign(subject, { sub: '' })],
    ['a new member', (subject) => Object.assign(subject, { authTime: -1 })],
    ['a method', ({ amr }) => (amr as string[]).push('x'.repeat(101))],
  ])('cannot be changed: %s', async (_, change) => {
    const { status, cause } = await request((subject) => {
      change(subject)
      return subject
    })
    expect(status).toBe(500)
    expect(cause).toMatch(/read only|not extensible/u)
  })
})
