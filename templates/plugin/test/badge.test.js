import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestProvider, testClient, testPlugin } from '@grantry/testing'
import { badge } from '../dist/index.js'

const plugin = badge((badgeId) => (badgeId === '123456' ? 'alice' : undefined))

test('a known badge gets a token', async () => {
  const { post } = await createTestProvider({ plugins: [plugin] })
  const form = { grant_type: 'urn:example:badge', badge_id: '123456', scope: 'api1' }
  // The address of the client, for the limit of guesses.
  const { status, body } = await post('token', form, testClient, '192.0.2.1')
  assert.equal(status, 200)
  assert.equal(body.token_type, 'Bearer')
})

test('the page explains badges', async () => {
  const { provider } = await createTestProvider({ plugins: [plugin] })
  const response = await provider.fetch(new Request(`${provider.issuer}/badge`))
  assert.equal(response.status, 200)
  assert.match(await response.text(), /<h1>Badges<\/h1>/u)
})

test('follows the rules of the protocol', async () => {
  await testPlugin(plugin, {
    endpoints: { badgePage: { succeeds: {} } },
    grants: {
      'urn:example:badge': {
        succeeds: { badge_id: '123456' },
        refused: [{ with: { badge_id: '654321' } }],
      },
    },
  })
})
