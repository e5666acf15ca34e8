/**
 * Attack: as in sign-in-during-change.test.ts, on a login page that the host has written: the provider checks the old password
 * while the new one is stored, and the page sends a code, or a decision, for the user it was given.
 */
import { passwords, type Subject } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import {
  authorizationEndpoint,
  authorizationRequests,
  type InteractionPort,
  loginPage,
  remoteInteractions,
} from '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, request, setUp } from '../authorization/parties.ts'
import { address, setUp as setUpDevice, verificationUri } from '../device-authorization/parties.ts'
import { fixture } from '../support/fixture.ts'
import { after, before, slowUsers } from '../support/slow-users.ts'

describe('a login page of the host', () => {
  const context = {}
  const asked = { consented: true } as const

  test.each([false, true])(
    'gives no code to the old password (the provider remembers the user: %s)',
    async (isRemembered) => {
      const { users, changeDuring } = slowUsers()
      const f = await createTestProvider({
        users,
        plugins: [authorizationCode(), proofKey(), refreshToken(), loginPage({ trusted: true })],
        clients: [...clients],
      })
      const requests = f.provider.use(authorizationRequests)
      const page = `https://id.example.com/login?${new URLSearchParams(request)}`
      const codeFor = async (password: string) => {
        const checked = await requests.parse(new Request(page))
        if ('response' in checked) throw new Error('The request was refused')
        const subject = await f.provider.authenticateUser({ username: 'alice', password }, context)
        if (subject === undefined) return undefined
        const { response } = await requests.respond(checked, { subject, scopes: checked.scopes, ...asked })
        return new URL(response.headers.get('location') ?? 'x:').searchParams.get('code') ?? undefined
      }
      if (isRemembered) expect(await codeFor(before)).toBeDefined()
      changeDuring(() => f.provider.revoke({ subject: 'alice' }))
      expect(await codeFor(before)).toBeUndefined()
      expect(await codeFor(after)).toBeDefined()
    },
  )

  test('on another host gives no session', async () => {
    const { users, changeDuring } = slowUsers()
    const port: InteractionPort = {
      interact: async ({ suspend }) => ({ location: `https://login.example.net/?id=${(await suspend()).id}` }),
    }
    const f = await setUp(
      port,
      {},
      {
        users,
        plugins: [
          passwords,
          authorizationCode(),
          proofKey(),
          refreshToken(),
          authorizationEndpoint({ interaction: port }),
        ],
      },
    )
    const remote = f.provider.use(remoteInteractions)
    const browser = f.browser()
    const { url } = await browser.open(f.urlOf(request))
    const id = url.searchParams.get('id') ?? ''
    expect(await f.provider.authenticateUser({ username: 'alice', password: before }, context)).toBeDefined()
    changeDuring(() => f.provider.revoke({ subject: 'alice' }))
    const subject = await f.provider.authenticateUser({ username: 'alice', password: before }, context)
    const decided = await remote.complete(id, { subject: subject as Subject, scopes: ['openid'] })
    expect((await browser.open(decided ?? '')).status).toBe(400)
  })

  test('gives no code by authorize()', async () => {
    const { users, changeDuring } = slowUsers()
    const f = await fixture({ users })
    const subjectOf = (password: string) => f.provider.authenticateUser({ username: 'alice', password }, context)
    // The provider remembers the user, and reads the epoch before the password only.
    await subjectOf(before)
    changeDuring(() => f.provider.revoke({ subject: 'alice' }))
    const subject = await subjectOf(before)
    expect(subject).toBeDefined()
    await expect(f.code({ subject: subject as Subject })).rejects.toMatchObject({ name: 'OAuthError' })
    await expect(f.code({ subject: (await subjectOf(after)) as Subject })).resolves.toBeDefined()
  })

  test('approves no code of a device', async () => {
    const { users, changeDuring } = slowUsers()
    const { provider, page, start, poll } = await setUpDevice({
      users,
      plugins: [passwords, deviceAuthorization({ verificationUri }), refreshToken()],
    })
    const approve = async (userCode: string, password: string) => {
      const subject = await provider.authenticateUser({ username: 'alice', password }, context)
      return page.approve(userCode, address, { subject: subject as Subject })
    }
    const [first, stolen, later] = [(await start()).body, (await start()).body, (await start()).body]
    expect(await approve(first.user_code, before)).toBe(true)
    changeDuring(() => provider.revoke({ subject: 'alice' }))
    await approve(stolen.user_code, before).catch(() => undefined)
    expect((await poll(stolen.device_code)).status).toBe(400)
    expect(await approve(later.user_code, after)).toBe(true)
    expect((await poll(later.device_code)).status).toBe(200)
  })
})
