/** A PDF file with numbered pages, as a simple program writes it. */
export function pdfFile(pages: number, { trailer = '' } = {}): Buffer {
  const kids = Array.from({ length: pages }, (_, at) => `${3 + at * 2} 0 R`);
  const bodies = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages} /Kids [ ${kids.join(' ')} ] /MediaBox [0 0 200 200] >>`,
    ...kids.flatMap((_, at) => {
      const drawing = `BT /F1 12 Tf 20 100 Td (Page ${at + 1}.) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /Contents ${4 + at * 2} 0 R >>`,
        `<< /Length ${drawing.length} >>\nstream\n${drawing}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const rows = bodies.map((body, at) => {
    const row = `${String(text.length).padStart(10, '0')} 00000 n \n`;
    text += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return row;
  });
  const start = text.length;
  const size = bodies.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${rows.join('')}`;
  text += `trailer\n<< /Size ${size} /Root 1 0 R ${trailer}>>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
