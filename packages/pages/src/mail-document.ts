import { type Content, html, textOf } from './html.ts'
import { directionOf } from './texts.ts'

// Mail programs support few styles, and remove those of a sheet.
const bodyStyle =
  'margin:0;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif;color:#15171c;background:#f4f5f8'
const mainStyle =
  'display:block;box-sizing:border-box;max-width:560px;margin:0 auto;padding:32px 24px;background:#ffffff;border:1px solid #e2e5eb;border-radius:12px;overflow-wrap:anywhere;word-break:break-word'
const headingStyle = 'margin:0 0 16px;font-size:22px;line-height:1.25'

const codeStyle = 'font-size:28px;font-weight:700;letter-spacing:4px;white-space:nowrap'

/**
 * Shows a code in groups of four, in both forms of a mail. Between right-to-left words, a usual space would let the groups
 * change places (Unicode Standard Annex 9, rule W4): there, it is a no-break space.
 */
export function codeInMail(code: string, locale: string): { readonly text: string; readonly content: Content } {
  const space = directionOf(locale) === 'rtl' ? '\u00a0' : ' '
  const text = code.replaceAll(/.{4}(?=.)/gu, (group) => group + space)
  return { text, content: html`<p style="${codeStyle}"><bdi dir="ltr">${text}</bdi></p>` }
}

/** Renders a mail: a heading and its content, without images and without anything that is loaded. */
export const mailDocument = (locale: string, title: string, content: Content): string =>
  textOf(html`<!doctype html>
<html lang="${locale}" dir="${directionOf(locale)}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>
<body style="${bodyStyle}"><main style="${mainStyle}"><h1 style="${headingStyle}">${title}</h1>${content}</main></body></html>`)
