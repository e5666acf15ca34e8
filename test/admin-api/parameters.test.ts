// What a problem says about a wrong parameter: what it must be, and never the value itself.
import { expect, test } from 'vitest'
import { setting } from './setting.ts'

test.each([
  ['GET', '/clients?limit=many', undefined, 'The parameter limit must be 1 to 1000'],
  ['GET', '/clients?enabled=maybe', undefined, 'The parameter enabled must be "true" or "false"'],
  ['GET', '/clients?unknown=1', undefined, 'The parameter unknown is unknown'],
  ['GET', '/user-names', undefined, 'The parameter name is required'],
  ['POST', '/clients/x/rotate-secret', { overlap: 'PROBE' }, 'The member overlap must be a number'],
  ['POST', '/clients/x/rotate-secret', { overlap: -1 }, 'The member overlap must be at least 0'],
  ['POST', '/clients/x/rotate-secret', { overlap: 1.5 }, 'The member overlap must be a whole number'],
  ['POST', '/clients', { clientId: 7 }, 'The member clientId must be a string'],
  [
    'POST',
    '/clients',
    { clientId: 'x', tags: 'PROBE' },
    'The member tags must be an array of at most 50 strings of 1 to 100 characters',
  ],
  ['POST', '/clients', { clientId: '' }, 'The member clientId must not be empty'],
  ['POST', '/clients', { clientId: 'x'.repeat(101) }, 'The member clientId must have at most 100 characters'],
  ['PUT', '/users/x/password', { password: 'PROBE' }, 'The member password must have at least 8 characters'],
  ['POST', '/keys/rotate', { force: 'PROBE' }, 'The member force must be true or false'],
])('%s %s %j: %s', async (method, path, body, detail) => {
  const { send } = await setting()
  const refused = await send(method, path, body === undefined ? {} : { body })
  expect([refused.status, refused.body.detail]).toEqual([400, detail])
  expect(JSON.stringify(refused.body)).not.toContain('PROBE')
})
