import type { Metadata } from 'next'
import type { ReactNode } from 'react'
import { TITLE } from '../settings'
import '../style.css'

export const metadata: Metadata = { title: TITLE, icons: { icon: '/icon.svg' } }

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <html lang="en">
      <body>{children}</body>
    </html>
  )
}
