import type { ReactNode } from 'react'

// Next.js requires a default export.
export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
