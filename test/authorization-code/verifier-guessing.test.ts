// Attack: wrong verifiers for one code arrive at two servers concurrently, alone and together with the right one. The
// count is exact across both.
import type { ProviderEvent } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, proof, redirectUri, web } from '../support/fixture.ts'
import { withLatency } from '../support/latency.ts'
import { rounds } from '../support/rounds.ts'

/** Two providers that share only a slow store, as two processes would. */
async function guarded() {
  const storage = withLatency(memoryDriver())
  const f = await fixture({ storage })
  const otherProcess = await fixture({ storage, runtime: { now: f.clock.now } })
  const code = await f.code({ codeChallenge: proof.challenge })
  const redeem = (server: Fixture, verifier: string) =>
    server.post(
      'token',
      { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
      web,
    )
  const right = () => redeem(otherProcess, proof.verifier)
  const wrong = (times: number) =>
    Promise.all(
      Array.from({ length: times }, (_, index) =>
        redeem(index % 2 === 0 ? f : otherProcess, `guess-${index}`.padEnd(43, 'x')),
      ),
    )
  const count = (type: ProviderEvent['type']) =>
    [...f.events, ...otherProcess.events].filter((event) => event.type === type).length
  return { f, right, wrong, count }
}

describe.concurrent('concurrent wrong verifiers for one code, at two servers', () => {
  test.each(rounds())('3.62 nine do not end the code: round %i', async () => {
    const { right, wrong, count } = await guarded()
    for (const { status } of await wrong(9)) expect(status).toBe(400)
    expect(count('code_ended')).toBe(0)
    expect((await right()).status).toBe(200)
  })

  test.each([10, 11, 50])('3.62 %i end it, with one event', async (times) => {
    const { right, wrong, count } = await guarded()
    for (const { status } of await wrong(times)) expect(status).toBe(400)
    expect(count('code_ended')).toBe(1)
    const { status, body } = await right()
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect(count('family_revoked')).toBe(0)
  })

  test.each(rounds())(
    '3.62 the right one among fifty is first or rejected, and revokes nothing: round %i',
    async () => {
      const { f, right, wrong, count } = await guarded()
      const [{ status, body }] = await Promise.all([right(), wrong(50)])
      expect(count('code_ended')).toBe(status === 200 ? 0 : 1)
      expect(count('code_redeemed')).toBe(status === 200 ? 1 : 0)
      expect([count('code_replayed'), count('family_revoked')]).toEqual([0, 0])
      if (status === 200) {
        expect((await f.post('introspection', { token: body.access_token }, api1)).body.active).toBe(true)
      } else {
        expect(body.error).toBe('invalid_grant')
      }
      expect((await right()).body.error).toBe('invalid_grant')
    },
  )
})
