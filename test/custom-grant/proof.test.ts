// A plugin's own check counts like the built-in one: the core sees refusals, not plugins.
import { defineGrantCheck, definePlugin, OAuthError } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { clients, fixture, proof, redirectUri, web } from '../support/fixture.ts'

const codeClient = {
  ...clients[0],
  clientId: web[0],
  grantTypes: ['authorization_code'],
}

/** Settles the demand of PKCE with its own rule, and refuses with the given error. */
const checkThat = (code: 'invalid_grant' | 'invalid_request' | 'slow_down' | 'temporarily_unavailable') =>
  definePlugin('word', [
    defineGrantCheck({
      settles: 'proof_key',
      grantTypes: ['authorization_code'],
      params: v.object({ code_verifier: v.optional(v.string()) }),
      authorization: {
        params: v.object({ code_challenge: v.string() }),
        check: ({ params }) => ({ demand: { challenge: params.code_challenge, method: 'S256' } }),
      },
      check({ params }) {
        if (params.code_verifier === 'sesame') return undefined
        throw new OAuthError(code, 'The word is not right', { reason: 'plugin:word:wrong' })
      },
    }),
  ])

test.each([
  ['invalid_grant', 'no'],
  ['invalid_request', 'yes'],
  ['slow_down', 'yes'],
  ['temporarily_unavailable', 'yes'],
] as const)('3.62 a check that refuses with %s: the code survives, %s', async (error, survives) => {
  const f = await fixture({ plugins: [authorizationCode(), checkThat(error)], clients: [codeClient] })
  const code = await f.code({ codeChallenge: proof.challenge })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  for (let attempt = 0; attempt < 10; attempt += 1) {
    expect((await f.post('token', { ...form, code_verifier: 'open' }, web)).body.error).toBe(error)
  }
  expect((await f.post('token', { ...form, code_verifier: 'sesame' }, web)).status).toBe(survives === 'yes' ? 200 : 400)
})
