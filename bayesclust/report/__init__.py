"""A summary of a posterior for readers: as text for a terminal, and as one page for a browser."""

from bayesclust.report.findings import Findings, findings
from bayesclust.report.page import report_page, write_report
from bayesclust.report.text import as_text

__all__ = ["Findings", "as_text", "findings", "report_page", "write_report"]
