// What the commit that wrote the files beside this one has stored is read by the present code, on every driver. `npm run
// fixtures:storage` writes them again: when a record is new that they should have, never because they cannot be read, which is a
// breaking change (decision 12). The clock stands a minute after that moment, so no record expires.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { codeAt } from '../account/factors.ts'
import { actionOf } from '../self-service/parties.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { places } from './places.ts'
import { fill, type Holdings, startService } from './service.ts'

const directory = new URL('./fixtures/', import.meta.url).pathname
const isWriting = process.env.GRANTRY_FIXTURES === 'write'
const holdingsOf = (name: string): string => `${directory}${name}.holdings.json`

afterEach(() => {
  vi.useRealTimers()
})

async function write(name: keyof typeof places): Promise<void> {
  const { open, file } = places[name]
  const place = await open()
  const service = await startService(place.storage)
  const holdings = await fill(service)
  await service.close()
  mkdirSync(directory, { recursive: true })
  await place.save(`${directory}${file}`)
  writeFileSync(holdingsOf(name), `${JSON.stringify(holdings, undefined, 2)}\n`)
  await place.close()
}

function readAt(name: keyof typeof places): void {
  if (isWriting) test('is written', () => write(name))

  test('is read', async () => {
    const { open, file } = places[name]
    expect(existsSync(`${directory}${file}`)).toBe(true)
    const holdings: Holdings = JSON.parse(readFileSync(holdingsOf(name), 'utf8'))
    const place = await open()
    await place.restore(`${directory}${file}`, Date.now() - holdings.writtenAt)
    vi.useFakeTimers({ toFake: ['Date'], now: holdings.writtenAt + 60_000 })
    const service = await startService(place.storage)
    try {
      // The session and the consent.
      const browser = service.newBrowser()
      for (const [cookie, value] of holdings.cookies) browser.jar.set(cookie, value)
      const silent = await browser.open(service.authorizeUri({ prompt: 'none' }))
      expect((await service.redeem(silent.url.searchParams.get('code'))).status, silent.url.search).toBe(200)
      // The account and its factor.
      const secondBrowser = service.newBrowser()
      const asked = await service.enter(
        secondBrowser,
        await secondBrowser.open(service.authorizeUri({ prompt: 'login' })),
      )
      expect(asked.html).toContain('name="code"')
      const code = codeAt(holdings.totpSecret, Math.floor(Date.now() / 1000))
      const proved = await service.send(secondBrowser, asked, actionOf(asked), { code })
      expect((await service.redeem(proved.url.searchParams.get('code'))).status, proved.html).toBe(200)
      // Tokens: of use, spent, revoked.
      expect(await service.isActive(holdings.accessToken)).toBe(true)
      expect((await service.refresh(holdings.refreshToken)).status).toBe(200)
      expect((await service.refresh(holdings.spentRefreshToken)).body.error).toBe('invalid_grant')
      expect((await service.refresh(holdings.revokedRefreshToken)).body.error).toBe('invalid_grant')
      // The keys, of which one was retired.
      const { protectedHeader } = await jwtVerify(holdings.identityToken, createLocalJWKSet(await service.keys()))
      expect(protectedHeader.alg).toBe('RS256')
      // The client in the storage, and the audit trail.
      const form = { grant_type: 'client_credentials', scope: 'api1' }
      expect((await service.post('token', form, holdings.addedClient)).status).toBe(200)
      const trail = await service.command('', 'audit', '--json')
      expect(trail.out).toContain('"job"')
    } finally {
      await service.close()
      await place.close()
    }
  })
}

describe('what the filesystem driver has stored', () => readAt('filesystem'))
describe('what the SQLite driver has stored', () => readAt('sqlite'))
describeWithRedis('what the Redis driver has stored', () => readAt('redis'))
describeWithPostgresql('what the PostgreSQL driver has stored', () => readAt('postgresql'))
