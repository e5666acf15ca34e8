import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

// Runs in the page, because to send what axe has passed takes as long as to find it.
const find = `async (rules) => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'], ...(rules && { runOnly: rules }) })
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html + ' ' + failureSummary))
}`

/** Runs as a script of the driver, so the policy of the page does not have to allow it. */
async function load(page: Page): Promise<void> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe)
}

/** Returns the violations that axe finds, with their elements. */
export async function violationsIn(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  await load(page)
  return page.evaluate(`(${find})(${JSON.stringify(rules)})`)
}

/**
 * Returns the violations that axe finds in each of several documents, in their order. One call of the browser shows all of
 * them, one after the other.
 */
export async function violationsInEach(
  page: Page,
  documents: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  await load(page)
  return page.evaluate(`(async () => {
    const found = {}
    for (const [name, html] of Object.entries(${JSON.stringify(documents)})) {
      document.open()
      document.write(html)
      document.close()
      found[name] = await (${find})()
    }
    return found
  })()`)
}
