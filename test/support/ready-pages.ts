import type { Page } from 'playwright-core'

/** Opens the URL of an authorization request, and signs alice of the examples in if the page asks for it. */
export async function signInAsAlice(page: Page, url: string): Promise<void> {
  await page.goto(url)
  const signIn = page.locator('#sign-in')
  await signIn.or(page.locator('#allow')).first().waitFor()
  if (!(await signIn.isVisible())) return
  await page.locator('#username').fill('alice')
  await page.locator('#password').fill('alice-password')
  await signIn.click()
}

/** The same, and allows. Returns what the page asks, and the URL of the client at which the browser asks next. */
export async function allowAsAlice(page: Page, url: string): Promise<{ readonly asked: string; readonly url: string }> {
  await signInAsAlice(page, url)
  await page.locator('#allow').waitFor()
  const asked = await page.locator('main').innerText()
  const redirected = page.waitForRequest(/[?&]code=/u)
  await page.locator('#allow').click({ noWaitAfter: true })
  return { asked, url: (await redirected).url() }
}
