import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { previewStates } from '@grantry/pages/preview'
import { afterEach, describe, expect, test } from 'vitest'
import { takePictures } from '../../packages/server/src/pages-preview/pictures.ts'
import { startPreview } from '../../packages/server/src/pages-preview/preview-server.ts'
import { findChromium } from '../../scripts/find-chromium.js'
import { printed } from '../server/printed.ts'
import { describeWithChromium } from '../support/chromium.ts'

const directories: string[] = []
const temporary = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-preview-'))
  directories.push(directory)
  return directory
}
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

const templates = (text: string): string =>
  `export default { name: 'Mine', templates: { signedOut: () => ({ title: '${text}', content: '${text}' }) } }`

async function open(file: string | undefined) {
  const preview = await startPreview({ templates: file }, 0)
  const read = async (path: string) => {
    const response = await fetch(new URL(path, preview.url))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { preview, read }
}

describe('grantry pages preview', () => {
  test('shows each state with the policy of its page, in a language, theme and direction', async () => {
    const { preview, read } = await open(undefined)
    const { text } = await read('/')
    for (const { name } of previewStates) expect(text).toContain(`/page/${name}?`)
    const page = await read('/page/sign-in?locale=de&theme=dark&direction=rtl')
    expect(page.text).toContain('<html lang="de" dir="rtl">')
    expect(page.text).toContain('color-scheme:dark')
    expect(page.headers.get('content-security-policy')).toMatch(/style-src 'sha256-[^']+'; script-src 'sha256-/u)
    expect((await read('/page/x')).status).toBe(404)
    expect((await read('/?state=consent')).text.match(/<iframe/gu)).toHaveLength(1)
    await preview.close()
  })

  test('loads a module again after it has changed, and shows why it cannot', async () => {
    const file = join(temporary(), 'templates.ts')
    writeFileSync(file, templates('One'))
    const { preview, read } = await open(file)
    expect((await read('/page/signed-out')).text).toContain('<title>One · Mine</title>')
    const changes = (await fetch(new URL('/changes', preview.url))).body?.getReader()
    await changes?.read()
    writeFileSync(file, templates('Two'))
    expect(new TextDecoder().decode((await changes?.read())?.value)).toContain('data: changed')
    await expect.poll(async () => (await read('/page/signed-out')).text).toContain('<title>Two · Mine</title>')
    writeFileSync(file, 'export default 1')
    await expect.poll(async () => (await read('/')).text).toContain('must be the options of createPages()')
    await changes?.cancel()
    await preview.close()
  })

  test('shows the pages of accounts and of the account, and mails, in the same appearance', async () => {
    const file = join(temporary(), 'templates.ts')
    writeFileSync(file, "export default { name: 'Mine', colors: { accent: '#7a1fd8' } }")
    const { preview, read } = await open(file)
    for (const name of ['self-service-ask-address-sign-up', 'account-overview', 'account-confirm-withdraw']) {
      const { text, status } = await read(`/page/${name}?theme=light`)
      expect([status, text.includes('· Mine</title>'), text.includes('--accent:#7a1fd8')]).toEqual([200, true, true])
    }
    writeFileSync(file, "export default { name: 'Yours' }")
    await expect.poll(async () => (await read('/page/account-overview')).text).toContain('· Yours</title>')
    const template = '() => ({ title: "Own", content: "Own" })'
    writeFileSync(
      file,
      `export default { accountTemplates: { overview: ${template} }, selfServiceTemplates: { askAddress: ${template} } }`,
    )
    await expect.poll(async () => (await read('/page/account-overview')).text).toContain('<title>Own</title>')
    expect((await read('/page/self-service-ask-address-recovery')).text).toContain('<main>Own</main>')
    expect((await read('/page/account-rename-passkey')).text).toContain('<h1>')
    const mail = await read('/page/self-service-mail-recovery?theme=dark')
    expect(mail.headers.get('content-security-policy')).toContain("style-src 'unsafe-inline'; script-src 'none'")
    expect((await read('/page/account-recovery-codes?theme=print')).text).not.toContain('@media print')
    await preview.close()
  })

  test.each(['preview', 'pictures'])('%s ends with an error for a file that is missing or wrong', async (command) => {
    const wrong = join(temporary(), 'wrong.json')
    writeFileSync(wrong, '{')
    const more = command === 'pictures' ? ['--out', temporary()] : []
    for (const args of [
      ['--config', join(temporary(), 'missing.json')],
      ['--config', wrong],
      ['--templates', join(temporary(), 'missing.ts')],
    ]) {
      const { code, err, out } = await printed('pages', command, ...args, ...more)
      expect([code, out]).toEqual([1, ''])
      expect(err).toMatch(/missing\.(?:json|ts)|wrong\.json/u)
    }
  })

  test('is not shown under another name, which a site could let lead here', async () => {
    const { preview } = await open(undefined)
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      request(preview.url, { headers: { host: 'evil.example' } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).end()
    })
    expect(status).toBe(421)
    await preview.close()
  })
})

describeWithChromium('grantry pages pictures', () => {
  test('takes pictures of a page in each language, width and theme', async () => {
    const directory = temporary()
    const chromium = findChromium() ?? ''
    const more = { locales: ['en', 'ar'], widths: [390, 1280], states: ['sign-in'] }
    expect(await takePictures({}, { chromium, directory, ...more })).toBe(8)
    const files = readdirSync(directory)
    expect(files).toContain('sign-in-ar-1280-dark.png')
    const widths = files.map((file) => [
      /(390|1280)/u.exec(file)?.[1],
      readFileSync(join(directory, file)).readUInt32BE(16),
    ])
    for (const [named, width] of widths) expect(Number(named)).toBe(width)
  })
})
