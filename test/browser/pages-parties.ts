import { createPageSets } from '@grantry/pages/preview'
import type { BrowserContext, Page } from 'playwright-core'
import { views } from '../pages/views.ts'

const address = 'https://id.example.com/connect/signin'
export const pageSets = createPageSets({ name: 'Example', scopes: { orders: 'See your orders' } })

/** The forms that a page has sent. */
export type Sent = readonly URLSearchParams[]

/**
 * Opens a page that shows one state after another, with the policy that the provider sends. A form that is sent gets no
 * response until the end.
 */
export async function openPage(context: BrowserContext) {
  const page = await context.newPage()
  const sent: URLSearchParams[] = []
  const problems: string[] = []
  let response: { readonly body: string; readonly headers: Record<string, string> } = { body: '', headers: {} }
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('logo.png')) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  await page.route('**/*', async (route) => {
    const request = route.request()
    if (request.url().endsWith('logo.png')) return route.fulfill({ contentType: 'image/png', body: '' })
    if (request.method() !== 'POST') return route.fulfill(response)
    sent.push(new URLSearchParams(request.postData() ?? ''))
    // The page stays, like one whose form starts an application.
    return route.fulfill({ status: 204 })
  })

  async function show(name: string, locale = 'en'): Promise<void> {
    const view = views[name]
    if (view === undefined) throw new Error(`There is no state ${name}`)
    const { html, sources } = view(pageSets, locale)
    const list = (all: readonly string[] | undefined): string => all?.join(' ') ?? "'none'"
    const policy = `default-src 'none'; style-src ${list(sources.style)}; script-src ${list(sources.script)}; img-src ${list(sources.image)}`
    const headers = { 'content-security-policy': policy, 'content-type': 'text/html; charset=utf-8' }
    response = { body: html, headers }
    await page.goto(address)
  }
  return { page, show, sent: sent as Sent, problems: problems as readonly string[] }
}

/** Opens a page in a state. */
export async function openState(context: BrowserContext, name: string, locale?: string) {
  const opened = await openPage(context)
  await opened.show(name, locale)
  return opened
}

/** What a screen reader reads, in its order: roles, names and states. */
export async function transcriptOf(context: BrowserContext, page: Page): Promise<readonly string[]> {
  const session = await context.newCDPSession(page)
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const silent = ['generic', 'none', 'RootWebArea', 'InlineTextBox', 'LabelText', 'paragraph', 'list', 'listitem']
  const silentParents = ['button', 'link', 'heading', 'LabelText']
  const lines: string[] = []
  function read(id: string): void {
    const node = byId.get(id)
    if (node === undefined) return
    const role = String(node.role?.value ?? '')
    const name = String(node.name?.value ?? '').trim()
    const states = (node.properties ?? [])
      .filter(({ name: state, value }) => ['checked', 'pressed', 'required'].includes(state) && value.value !== false)
      .map(({ name: state, value }) => (value.value === true ? state : `${state} ${value.value}`))
    const described = node.description?.value === undefined ? [] : [`(${node.description.value})`]
    const isRead = !node.ignored && !silent.includes(role) && (name !== '' || states.length > 0)
    if (isRead) lines.push([role, name, ...states, ...described].filter((part) => part !== '').join(' '))
    if (silentParents.includes(role)) return
    for (const child of node.childIds ?? []) read(child)
  }
  const [root] = nodes
  if (root !== undefined) read(root.nodeId)
  await session.detach()
  return lines
}

/** The number of a control that was focused, and the style of its ring. */
type Focused = readonly [string | undefined, string]

/**
 * Numbers the controls that are seen, in the order of the page, focuses a button before them, and presses Tab as often as
 * there are controls. Returns their number, and what was focused in turn.
 */
export async function tabThrough(page: Page) {
  const controls = await page.evaluate(() => {
    const all = [...document.querySelectorAll<HTMLElement>('a[href],button,input:not([type=hidden]),select,summary')]
    const seen = all.filter((control) => control.checkVisibility())
    for (const [index, control] of seen.entries()) control.dataset.at = String(index)
    const top = document.createElement('button')
    document.body.prepend(top)
    top.focus()
    const focused: Focused[] = []
    document.addEventListener('focusin', ({ target }) => {
      const control = target as HTMLElement
      focused.push([control.dataset.at, getComputedStyle(control).outlineStyle])
    })
    Object.assign(globalThis, { focused })
    return seen.length
  })
  for (let pressed = 0; pressed < controls; pressed += 1) await page.keyboard.press('Tab')
  return { controls, focused: (await page.evaluate('focused')) as readonly Focused[] }
}
