// Two administrators, on connections of their own, who add the same user at the same time.
import { openAdministration } from '@grantry/administration'
import { openEntries, parseConfiguration } from '@grantry/core'
import { expect } from 'vitest'
import { configuredStorage, storageSchema } from '../../packages/server/src/configuration/storage/storage-drivers.ts'
import { withLatency } from '../support/latency.ts'
import { patient } from '../support/network-stores.ts'
import { newDirectory } from '../support/server-program.ts'
import { testOnEveryStore } from './on-every-store.ts'
import { expectConsistentNames, reasonOf } from './user-setting.ts'

/** Two administrators on connections of their own, with random latency, add the same names. */
async function oneWins(storage: object, closings: (() => unknown)[]): Promise<void> {
  const open = async () => {
    const { driver } = await configuredStorage(
      parseConfiguration(storageSchema, patient(storage), 'storage'),
      newDirectory(),
    )
    await driver.open?.()
    closings.push(() => driver.dispose?.())
    return driver
  }
  const drivers = [await open(), await open()] as const
  const administrators = drivers.map((driver) =>
    openAdministration({
      entries: openEntries({ issuer: 'https://id.example.com', storage: withLatency(driver) }),
      check: { client: async () => {}, scope: async () => {}, user: async () => {} },
      hashPassword: async () => '',
      revoke: async () => {},
    }).as({ who: 'alice' }),
  )
  for (let round = 0; round < 10; round += 1) {
    const reasons = await Promise.all(
      administrators.map(({ users }, index) =>
        reasonOf(users.add({ username: `${index === 0 ? 'USER' : 'user'}${round}` })),
      ),
    )
    expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
    expect(reasons).toContain('exists')
  }
  expect(await expectConsistentNames(drivers[0])).toHaveLength(10)
}

testOnEveryStore('of two administrators who add one name, one wins', oneWins)
