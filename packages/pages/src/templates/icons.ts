import { type Html, trusted } from '../html.ts'

const drawn = (kind: string, shapes: string): Html =>
  trusted(`<svg class="icon${kind}" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${shapes}</svg>`)

const filled = (path: string): Html => drawn('', `<path fill-rule="evenodd" d="${path}"/>`)
const lines = (path: string, kind = ''): Html => drawn(` line${kind}`, `<path d="${path}"/>`)

/** Drawings of one colour, that of the text beside them. They hint at providers, and are not their trademarks. */
const ofProviders: Readonly<Record<string, Html>> = {
  google: drawn(' line', '<path stroke-width="3.25" d="M12.5 12H20a8 8 0 1 1-2.6-5.9"/>'),
  microsoft: filled('M3 3h8.4v8.4H3zM12.6 3H21v8.4h-8.4zM3 12.6h8.4V21H3zM12.6 12.6H21V21h-8.4z'),
  apple: filled(
    'M12 7.6c1-.9 2.2-1.3 3.4-1.3 1.6 0 3 .8 3.8 2-2.9 1.9-2.5 5.8.6 7.2-.9 2.7-2.7 5-4.5 5-1.1 0-1.8-.6-3.2-.6s-2.2.6-3.3.6C6.4 20.5 4 16.4 4 12.7 4 8.9 6.4 6.3 8.9 6.3c1.2 0 2.2.5 3.1 1.3zM12.2 5.9c0-2 1.5-3.7 3.5-4 .1 2.2-1.5 3.9-3.5 4z',
  ),
  github: filled(
    'M4.2 3.6l4 2.5a13 13 0 0 1 7.6 0l4-2.5.2 5.8a6.8 6.8 0 0 1 1 3.6c0 4.5-3.7 6.8-9 6.8s-9-2.3-9-6.8c0-1.4.4-2.6 1-3.6zM8.3 11.4a1.3 1.9 0 1 0 0 3.8 1.3 1.9 0 0 0 0-3.8zm7.4 0a1.3 1.9 0 1 0 0 3.8 1.3 1.9 0 0 0 0-3.8z',
  ),
  gitlab: filled('M12 21.5L2.3 14 5.7 3l2.9 7.6h6.8L18.3 3l3.4 11z'),
  keycloak: filled('M7 3.3h10L22 12l-5 8.7H7L2 12zm5 4.5a2.6 2.6 0 0 0-1.3 4.9v3.7h2.6v-3.7A2.6 2.6 0 0 0 12 7.8z'),
}

const building = lines('M5.5 21V4.5h8V21M13.5 9.5h5V21M3 21h18M8.5 8.5h2M8.5 12.5h2M8.5 16.5h2')

/** The icon of a provider, by its own or by its name. Other providers have the icon of a building. */
export function iconOf(icon: string | undefined, name: string): Html {
  const known = icon ?? name.toLowerCase()
  return (Object.hasOwn(ofProviders, known) && ofProviders[known]) || building
}

export const icons = {
  organization: building,
  mail: lines('M3 5.5h18v13H3zM3.5 6l8.5 7 8.5-7'),
  passkey: lines('M8 12.5a4.5 4.5 0 1 1 4.3-3.1H21l.5 3-2 .1-.5 2-2.5.1-.5-2h-4A4.5 4.5 0 0 1 8 12.5zM7 8h.01'),
  shown: lines(
    'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
    ' on',
  ),
  concealed: lines(
    'M4 4l16 16M10 5.7A9 9 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a16 16 0 0 1-2.7 3.4M6.5 7A15 15 0 0 0 2.5 12S6 18.5 12 18.5a9 9 0 0 0 4.4-1.2M10 10a3 3 0 0 0 4.1 4.1',
    ' off',
  ),
} as const
