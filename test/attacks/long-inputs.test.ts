// Attack: one header or parameter of 64 KB that a loop or a regular expression reads again from each of its characters.
// A few such requests occupy the only thread of a process for seconds.

import { createPages } from '@grantry/pages'
import { plainPages } from '@grantry/plugins/authorization-endpoint'
import { endSession } from '@grantry/plugins/end-session'
import { expect, test } from 'vitest'
import { request, setUp } from '../authorization/parties.ts'
import { isCheap, longest } from '../support/cpu-cost.ts'
import { textParsers, worstCases } from '../support/text-parsers.ts'

test.each(Object.entries(textParsers))('reads 64 KB in linear time: %s', async (_, parse) => {
  const slow: string[] = []
  for (const input of worstCases) {
    if (!(await isCheap(() => parse(input)))) slow.push(input.slice(0, 8))
  }
  expect(slow).toEqual([])
})

const dashes = `a${'-'.repeat(longest - 1)}`

test('chooses a language in linear time on each page', async () => {
  const pages = createPages()
  const f = await setUp(undefined, { pages, features: [endSession({ pages })] })
  const get = (path: string, headers: Record<string, string> = {}) =>
    f.provider.fetch(new Request(`${f.provider.issuer}/connect/${path}`, { headers }))
  for (const path of ['endsession', 'authorize', 'authorize/resume']) {
    expect(await isCheap(() => get(path, { 'accept-language': dashes })), path).toBe(true)
    expect(await isCheap(() => get(`${path}?ui_locales=${dashes}`)), path).toBe(true)
  }
})

test('passes no ui_locales to the pages that the request may not have', async () => {
  const seen: (string | undefined)[] = []
  const localeOf = (uiLocales: string | undefined) => {
    seen.push(uiLocales)
    return 'en'
  }
  const f = await setUp(undefined, { pages: { ...plainPages, localeOf } })
  await f.browser().open(f.urlOf({ ...request, ui_locales: dashes }))
  await f.browser().open(f.urlOf({ ...request, ui_locales: 'de' }))
  expect(seen).toEqual([undefined, 'de'])
})
