import { basic, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { redirectUri, web } from '../authorization/parties.ts'
import { type Holder, holder, tokenUrl } from '../dpop/parties.ts'
import { parUrl, pushed, setUp } from './parties.ts'

const [mine, others] = [await holder(), await holder()]
const proofFor = ({ prove }: Holder) => prove({ htu: parUrl })

/** Pushes a request, visits its URI, and redeems the code with a key. */
async function redeemed(form: Readonly<Record<string, string>>, atPush: Holder | undefined, atToken: Holder) {
  const { pushedUrl, browser, provider } = await setUp()
  const headers = atPush === undefined ? {} : { dpop: await proofFor(atPush) }
  const { code = '' } = answer(await browser().open(await pushedUrl({}, { ...pushed, ...form }, web, headers)))
  const body = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
  const init = { method: 'POST', headers: { authorization: basic(web), dpop: await atToken.prove() }, body }
  return read(await provider.fetch(new Request(tokenUrl, init)))
}

describe('the key of a pushed request', () => {
  test.each([
    ['a proof', {}, mine],
    ['dpop_jkt', { dpop_jkt: mine.thumbprint }, undefined],
    ['a proof and dpop_jkt', { dpop_jkt: mine.thumbprint }, mine],
  ])('12.10 %s binds the code', async (_by, form, atPush) => {
    expect(await redeemed(form, atPush, mine)).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
    expect((await redeemed(form, atPush, others)).status).toBe(400)
  })

  test('12.10 a proof of another key than dpop_jkt is refused', async () => {
    const { push } = await setUp()
    const { status } = await push({ ...pushed, dpop_jkt: mine.thumbprint }, web, { dpop: await proofFor(others) })
    expect(status).toBe(400)
  })

  test('12.10 a proof for another endpoint is refused', async () => {
    const { push } = await setUp()
    const { status, body } = await push(pushed, web, { dpop: await mine.prove() })
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
  })
})
