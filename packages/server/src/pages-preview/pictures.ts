import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { previewStates } from '@grantry/pages/preview'
import { type Chromium, startChromium } from './chromium.ts'
import type { PagesSource } from './load-pages.ts'
import { startPreview } from './preview-server.ts'

/** The pages and themes of the pictures, and the directory for them. */
export interface Pictures {
  readonly chromium: string
  readonly directory: string
  readonly locales: readonly string[]
  /** Pixels. */
  readonly widths: readonly number[]
  /** Default: light and dark. */
  readonly themes?: readonly Theme[] | undefined
  /** The names of states. Default: all. */
  readonly states?: readonly string[] | undefined
}

/** How a page is drawn: its colours, those of the system, or on paper. */
export const themes = ['light', 'dark', 'forced-colors', 'print'] as const
export type Theme = (typeof themes)[number]

/** Pixels of a window, whose height grows with the page. */
const leastHeight = 800

/** Pages at the same time. More would wait for the processor. */
const parallel = 4

async function openTab(chromium: Chromium): Promise<string> {
  const { targetId } = await chromium.send('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true })
  await chromium.send('Page.enable', {}, String(sessionId))
  // Only one of several tabs has the focus, and so the ring of a field with autofocus.
  await chromium.send('Emulation.setFocusEmulationEnabled', { enabled: true }, String(sessionId))
  return String(sessionId)
}

interface Shot {
  readonly name: string
  readonly url: string
  readonly width: number
  readonly theme: Theme
}

/** Takes a picture of the whole page. */
async function take(chromium: Chromium, tab: string, { url, width, theme }: Shot): Promise<Buffer> {
  const send = (method: string, params?: Readonly<Record<string, unknown>>) => chromium.send(method, params, tab)
  const resize = (height: number) =>
    send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  await resize(leastHeight)
  const features = [
    { name: 'prefers-color-scheme', value: theme === 'dark' ? 'dark' : 'light' },
    { name: 'forced-colors', value: theme === 'forced-colors' ? 'active' : 'none' },
  ]
  await send('Emulation.setEmulatedMedia', { media: theme === 'print' ? 'print' : 'screen', features })
  const isLoaded = chromium.next('Page.loadEventFired', tab)
  await send('Page.navigate', { url })
  await isLoaded
  const { cssContentSize } = (await send('Page.getLayoutMetrics')) as {
    readonly cssContentSize: { readonly height: number }
  }
  // A picture beyond the window would have the width of the window in some pages from right to left.
  if (cssContentSize.height > leastHeight) await resize(Math.ceil(cssContentSize.height))
  const { data } = await send('Page.captureScreenshot', { format: 'png' })
  return Buffer.from(String(data), 'base64')
}

/** Takes pictures of the pages in their states. Returns their number. */
export async function takePictures(
  source: PagesSource,
  { chromium: file, directory, locales, widths, themes: chosen = ['light', 'dark'], states }: Pictures,
): Promise<number> {
  await mkdir(directory, { recursive: true })
  const [preview, chromium] = await Promise.all([startPreview(source, 0), startChromium(file)])
  try {
    const shots = previewStates
      .filter(({ name }) => states === undefined || states.includes(name))
      .flatMap(({ name }) =>
        locales.flatMap((locale) =>
          widths.flatMap((width) =>
            chosen.map((theme) => ({
              name: `${name}-${locale}-${width}-${theme}.png`,
              url: `${preview.url}page/${name}?${new URLSearchParams({ locale })}`,
              width,
              theme,
            })),
          ),
        ),
      )
    const rest = [...shots]
    const work = async (): Promise<void> => {
      const tab = await openTab(chromium)
      for (let shot = rest.shift(); shot !== undefined; shot = rest.shift()) {
        await writeFile(join(directory, shot.name), await take(chromium, tab, shot))
      }
    }
    await Promise.all(Array.from({ length: parallel }, work))
    return shots.length
  } finally {
    await Promise.all([chromium.close(), preview.close()])
  }
}
