// Attack: an attacker who sees a code tries to spend it, or to have its tokens revoked, without being able to redeem
// it.
import { type RunningServer, serve } from '@grantry/adapters/node'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { basic, type Credentials } from '@grantry/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { api1, fixture, otherClient, proof, redirectUri, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { rounds } from '../support/rounds.ts'

const running: RunningServer[] = []
afterAll(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(0)))
})

async function served() {
  const f = await fixture({ storage: withLatency(memoryDriver()) })
  const server = await serve(f.provider)
  running.push(server)
  async function post(path: string, form: Record<string, string>, as: Credentials) {
    const response = await fetch(`http://127.0.0.1:${server.port}/connect/${path}`, {
      method: 'POST',
      headers: { authorization: basic(as) },
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: await response.json() }
  }
  const code = await f.code({ codeChallenge: proof.challenge })
  const right = { grant_type: 'authorization_code', redirect_uri: redirectUri, code, code_verifier: proof.verifier }
  const { code_verifier: _, ...withoutVerifier } = right
  const attempts: readonly [form: Record<string, string>, as: Credentials, expected: string][] = [
    [right, otherClient, '400 invalid_grant'],
    [right, ['web', 'guessed-secret'], '401 invalid_client'],
    [{ ...right, redirect_uri: `${redirectUri}/` }, web, '400 invalid_grant'],
  ]
  const failedProofs: typeof attempts = [
    [{ ...right, code_verifier: 'x'.repeat(43) }, web, '400 invalid_grant'],
    [{ ...right, code_verifier: 'short' }, web, '400 invalid_grant'],
    [withoutVerifier, web, '400 invalid_grant'],
  ]
  /**
   * Every wrong attempt, concurrently: eight times each, and the three ways to fail the proof three times each, because
   * ten failed proofs end a code.
   */
  const allWrong = () =>
    Promise.all(
      Array.from({ length: 8 }, (_, round) => (round < 3 ? [...attempts, ...failedProofs] : attempts))
        .flat()
        .map(async ([form, as, expected]) => {
          const { status, body } = await post('token', form, as)
          return { response: `${status} ${body.error}`, expected }
        }),
    )
  const redeem = () => post('token', right, web)
  const isActive = async (token: string): Promise<boolean> => (await post('introspect', { token }, api1)).body.active
  return { f, allWrong, redeem, isActive }
}

describe.concurrent('concurrent attempts with a wrong client, wrong redirect_uri, wrong verifier and missing verifier', () => {
  test.each(rounds())('3.32 spend nothing: afterwards the right redemption succeeds: round %i', async () => {
    const { allWrong, redeem, isActive } = await served()
    for (const { response, expected } of await allWrong()) expect(response).toBe(expected)
    const { status, body } = await redeem()
    expect(status).toBe(200)
    expect(await isActive(body.access_token)).toBe(true)
  })

  test.each(rounds())('3.32 spend nothing: the right redemption among them succeeds: round %i', async () => {
    const { f, allWrong, redeem, isActive } = await served()
    const [wrong, { status, body }] = await Promise.all([allWrong(), redeem()])
    for (const { response, expected } of wrong) expect(response).toBe(expected)
    expect(status).toBe(200)
    expect(await isActive(body.access_token)).toBe(true)
    expect(f.events.map(({ type }) => type)).not.toContain('code_replayed')
  })

  test('3.33 revoke nothing once the code was redeemed', async () => {
    const { f, allWrong, redeem, isActive } = await served()
    const { body } = await redeem()
    for (const { response, expected } of await allWrong()) expect(response).toBe(expected)
    expect(await isActive(body.access_token)).toBe(true)
    expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
  })
})
