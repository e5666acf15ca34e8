import type { Colors } from './pages-options.ts'

type Channels = readonly [number, number, number]

const channelsOf = (color: string): Channels => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16))
  return [red, green, blue]
}

const colorOf = (channels: readonly number[]): string =>
  `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`

/** The relative luminance of a colour. @see WCAG 2.2, definition of relative luminance */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color)
    .map((channel) => channel / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast ratio of two colours, from 1 to 21. @see WCAG 2.2, definition of contrast ratio */
export function contrastOf(color: string, background: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(color), luminanceOf(background)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** Black or white, whichever is easier to read on the colour. The contrast is at least 4.5. */
const textOn = (color: string): string => (luminanceOf(color) > 0.179 ? '#000' : '#fff')

const mix = (color: string, end: string, share: number): string => {
  const endChannels = channelsOf(end)
  return colorOf(channelsOf(color).map((channel, index) => channel + ((endChannels[index] ?? 0) - channel) * share))
}

/** Returns the colour, made lighter or darker only as far as the contrast to the background needs. */
function contrasting(color: string, background: string, contrast: number): string {
  const end = luminanceOf(background) > 0.179 ? '#000000' : '#ffffff'
  const shares = Array.from({ length: 21 }, (_, step) => step / 20)
  return (
    shares.map((share) => mix(color, end, share)).find((candidate) => contrastOf(candidate, background) >= contrast) ??
    end
  )
}

const light = {
  card: '#ffffff',
  text: '#15171c',
  muted: '#565c6b',
  line: '#e2e5eb',
  edge: '#8a90a0',
  field: '#ffffff',
  hover: '#f3f4f7',
  press: '#e6e8ee',
  alert: '#a3191f',
  'alert-page': '#fdeeee',
}

const dark = {
  card: '#1a1d23',
  text: '#eef0f4',
  muted: '#a6adbb',
  line: '#333844',
  edge: '#7b8394',
  field: '#12141a',
  hover: '#252932',
  press: '#303540',
  alert: '#ffb3ae',
  'alert-page': '#361718',
}

/** The colours of buttons and links. Links are readable, and buttons seen, on the card; texts are readable on buttons. */
function accents(accent: string, card: string): Readonly<Record<string, string>> {
  const link = contrasting(accent, card, 4.5)
  return {
    accent,
    'on-accent': textOn(accent),
    'accent-hover': mix(accent, textOn(accent) === '#fff' ? '#000000' : '#ffffff', 0.14),
    'accent-edge': contrasting(accent, card, 3),
    link,
    focus: link,
  }
}

const variables = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')

/** Returns the colours as custom properties, for light and dark. */
export function colorRules({ accent, background }: Colors): string {
  const onLight = variables({ ...accents(accent, light.card), ...light, page: background })
  // A dark brand colour is hardly seen on a dark card.
  const onDark = variables({ ...accents(contrasting(accent, dark.card, 3), dark.card), ...dark, page: '#0f1115' })
  return `:root{color-scheme:light dark;${onLight}}@media (prefers-color-scheme:dark){:root{${onDark}}}`
}
