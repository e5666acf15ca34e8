// The rule for spent tokens is that of the client when a token comes back. Operators switch it, and two releases run on
// one store during a deployment.
import type { ClientOptions } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { clients, fixture, web } from '../support/fixture.ts'
import { issueTokens, refresh } from '../support/revocation.ts'

const grace = { gracePeriod: 1800 }
const refused = { status: 400, body: { error: 'invalid_grant' } }

/** A provider whose client can be changed while it runs. */
async function started(refreshToken: ClientOptions['refreshToken']) {
  let current = refreshToken
  const find = (id: string) =>
    clients.filter(({ clientId }) => clientId === id).map((client) => ({ ...client, refreshToken: current }))[0]
  const f = await fixture({ clients: { find } })
  const { refresh_token: first } = await issueTokens(f, web)
  const { refresh_token: second } = (await refresh(f, first)).body
  return {
    f,
    first,
    second,
    change(next: ClientOptions['refreshToken']) {
      current = next
    },
  }
}

describe('a client that is switched', () => {
  test('3.107 to a grace: what it has spent before is refused after its retry window, and the family lives', async () => {
    const { f, first, second, change } = await started({})
    f.clock.advance(11)
    change(grace)
    expect(await refresh(f, first)).toMatchObject(refused)
    expect((await refresh(f, second)).status).toBe(200)
  })

  test('3.39 from a grace: what it has spent before is a replay after the retry window, used or not', async () => {
    const { f, first, second, change } = await started(grace)
    f.clock.advance(11)
    change({})
    expect(await refresh(f, first)).toMatchObject(refused)
    expect(await refresh(f, second)).toMatchObject(refused)
  })

  test('3.40 from a grace, inside the retry window: it is a retry until the successor is used', async () => {
    const { f, first, second, change } = await started(grace)
    change({})
    expect((await refresh(f, first)).body.refresh_token).toBe(second)
    await refresh(f, second)
    expect(await refresh(f, first)).toMatchObject(refused)
  })

  test('3.107 to a shorter grace: that one counts', async () => {
    const { f, first, change } = await started(grace)
    change({ gracePeriod: 60 })
    f.clock.advance(59)
    expect((await refresh(f, first)).status).toBe(200)
    f.clock.advance(1)
    expect(await refresh(f, first)).toMatchObject(refused)
  })
})
