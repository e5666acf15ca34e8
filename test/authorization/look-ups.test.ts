import { expect, test } from 'vitest'
import { clientLookUps } from '../../scripts/structure/client-look-ups.ts'

test('a sign-in asks the client store once in each of its requests', async () => {
  const lookUps = await clientLookUps()
  expect(lookUps.map(({ request, count }) => `${count} ${request}`)).toEqual([
    '1 GET /connect/authorize',
    '1 POST /connect/signin',
    '1 GET /connect/authorize/resume',
    '1 POST /connect/consent',
    '1 POST /connect/token',
  ])
})
