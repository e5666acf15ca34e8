// The file drivers of unstorage return the error of a failed unlink and unstorage ignores it: a revoked reference token
// would stay on disk.

import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import memory from 'unstorage/drivers/memory'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { issueTokens } from '../support/revocation.ts'

test('a revocation fails with 503 when the mounted driver does not remove the item', async () => {
  const driver = memory()
  let fails = false
  const stubborn = {
    ...driver,
    removeItem: (key: string, options: object) =>
      fails ? Promise.resolve(new Error('EACCES: permission denied')) : driver.removeItem?.(key, options as never),
  }
  const storage = unstorageDriver(createStorage({ driver: stubborn as never }), { singleProcess: true })
  const f = await fixture({ storage })
  const { access_token: token } = await issueTokens(f)
  fails = true
  expect((await f.post('revocation', { token }, web)).status).toBe(503)
})
