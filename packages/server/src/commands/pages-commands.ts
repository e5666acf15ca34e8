import { previewStates } from '@grantry/pages/preview'
import { type Command, InvalidArgumentError } from 'commander'
import { findConfiguration } from '../configuration/load.ts'
import { configOption } from '../opening/command-options.ts'
import { findChromium } from '../pages-preview/chromium.ts'
import { loadPages, type PagesSource } from '../pages-preview/load-pages.ts'
import { themes as allThemes, type Theme, takePictures } from '../pages-preview/pictures.ts'
import { startPreview } from '../pages-preview/preview-server.ts'

const templatesOption = [
  '-t, --templates <file>',
  'module whose default export is the options of createPages(), with templates, or its pages',
] as const

/**
 * Returns the named file; without one, the configuration of this directory, if there is one. Otherwise, the pages have
 * no options.
 */
const sourceOf = ({ config, templates }: PagesSource): PagesSource =>
  templates === undefined ? { config: config ?? findConfiguration(process.cwd()) } : { templates }

/** Rejects if the file is missing or has a mistake. The preview shows the mistakes of later changes. */
async function loadableSource(options: PagesSource): Promise<PagesSource> {
  const source = sourceOf(options)
  await loadPages(source)
  return source
}

function portNumber(text: string): number {
  if (!/^\d{1,5}$/u.test(text) || Number(text) > 65_535) {
    throw new InvalidArgumentError('It must be a number from 0 to 65535.')
  }
  return Number(text)
}

const numbers = (text: string): readonly number[] => {
  const all = text.split(',').map(Number)
  if (all.some((number) => !Number.isInteger(number) || number < 200 || number > 8000)) {
    throw new InvalidArgumentError('It must be numbers from 200 to 8000, such as 390,1280.')
  }
  return all
}

function themeList(text: string): readonly Theme[] {
  const names = text.split(',')
  const chosen = allThemes.filter((theme) => names.includes(theme))
  if (chosen.length !== names.length) throw new InvalidArgumentError(`It must be a list of ${allThemes.join(', ')}.`)
  return chosen
}

function stateList(text: string): readonly string[] {
  const chosen = text.split(',')
  const unknown = chosen.find((state) => !previewStates.some(({ name }) => name === state))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no state ${unknown}. The preview names them.`)
  return chosen
}

async function preview({ port = 0, ...options }: PagesSource & { readonly port?: number }): Promise<void> {
  const server = await startPreview(await loadableSource(options), port)
  process.stdout.write(`The pages are at ${server.url} (end with Ctrl+C)\n`)
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve).once('SIGTERM', resolve)
  })
  await server.close()
}

interface PicturesArguments extends PagesSource {
  readonly out: string
  readonly locales: string
  readonly widths: readonly number[]
  readonly themes: readonly Theme[]
  readonly states?: readonly string[]
}

async function pictures({ out, locales, widths, themes, states, ...options }: PicturesArguments): Promise<void> {
  const source = await loadableSource(options)
  const chromium = findChromium(process.env)
  if (chromium === undefined) {
    throw new TypeError('Chromium is not installed: install it, or set CHROMIUM to its path')
  }
  const count = await takePictures(source, {
    chromium,
    directory: out,
    locales: locales.split(','),
    widths,
    themes,
    states,
  })
  process.stdout.write(`${count} pictures are in ${out}\n`)
}

/** Adds the commands that show the pages of the sign-in. */
export function addPagesCommands(grantry: Command): void {
  const pages = grantry.command('pages').description('show the pages of the sign-in')
  pages
    .command('preview')
    .description('show every page in every state on the loopback address, and again when its files have changed')
    .option(...configOption)
    .option(...templatesOption)
    .option('-p, --port <number>', 'port to listen on (default: any)', portNumber)
    .action(preview)
  pages
    .command('pictures')
    .description('take pictures of every page in every state with an installed Chromium')
    .requiredOption('-o, --out <directory>', 'where to write the pictures')
    .option(...configOption)
    .option(...templatesOption)
    .option('--locales <list>', 'languages', 'en')
    .option('--widths <list>', 'widths in pixels', numbers, [390, 1280])
    .option('--themes <list>', `of ${allThemes.join(', ')}`, themeList, ['light', 'dark'])
    .option('--states <list>', 'names of states, as the preview has them (default: all)', stateList)
    .action(pictures)
}
